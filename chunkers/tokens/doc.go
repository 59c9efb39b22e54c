// Package tokens cuts and measures texts in tokens, the unit in which models
// limit and charge for text.
//
// [FixedToken] cuts windows of tokens. [Length] is for
// [chunkers.RecursiveCharacter], which then cuts where the text does and measures
// in tokens. Both take a [Tokenizer]: OpenAI's encodings [CL100K] and [O200K], a
// [ModelTokenizer] read from the tokenizer.json of an embedding model, or one's
// own.
// A size in tokens of another model than the one that embeds is a guess: the
// same text has different numbers of them.
//
// # Encodings
//
// The vocabularies are those embedded in github.com/tiktoken-go/tokenizer
// v0.10.0: nothing is downloaded, then or at run time. Words are found and merged
// by this package, without regular expressions. An encoding is loaded when it is
// first used, never by an import. That takes 30 ms of CPU time for cl100k_base
// and 70 ms for o200k_base, a third of it the library's; 6 and 12 MiB stay in
// memory, more than half of them the library's own tables. Each goroutine that is
// cutting at a time has a third of a MiB in which frequent words are remembered;
// what is not in use is left to the garbage collector.
//
// The IDs of tokens ([Encoding.AppendIDs]) are those of OpenAI's tiktoken, in
// Rust, compiled to WebAssembly (npm package tiktoken 1.0.22): on every file of
// real data that the tests use, in English, Chinese and Arabic, on all 438,976
// texts of three items out of 76 that its expressions tell apart or might, on
// 50,000 random ones, on every character of Unicode 15.0 among others, and on a
// list of hostile texts. The tests hold the record and how it was made. Characters
// that Unicode has had since 15.0 may be cut otherwise: they are classified by the
// tables that Go has. So may white space at the very end of a text be, if there is
// some after its last line end, by releases of tiktoken for Python that changed the
// expression of cl100k_base. Text that is not valid UTF-8 has tokens too, of its
// bytes.
//
// Speed, in CPU time and as a ratio of two benchmarks in one run, the median of
// five on a busy machine (AMD EPYC, November 2026). Cold is with the vocabulary
// loaded and no word remembered, warm when the same texts were counted before:
//
//	                                          against                      cold         warm
//	counting cl100k, Chroma's corpora         tiktoken-go/tokenizer        12 (11–14)   12 (12–16)
//	counting o200k, Chroma's corpora          tiktoken-go/tokenizer        11 (9–12)    13 (11–14)
//	counting cl100k, XQuAD en, zh, ar         tiktoken-go/tokenizer        7, 5, 7      15, 5, 8
//	counting o200k, XQuAD en, zh, ar          tiktoken-go/tokenizer        8, 4, 5      16, 4, 6
//	FixedToken 400, no overlap                langchaingo's TokenSplitter  43 (39–49)   45 (37–47)
//	RecursiveCharacter by 400 cl100k tokens   langchaingo with             37 (30–48)   190 (110–390)
//	                                          tiktoken-go/tokenizer
//
// In parentheses are the least and the greatest. XQuAD is 0.2 to 0.3 MB, of which
// a large part are words that were not met before. Chinese is slow everywhere: a
// word goes on until a punctuation mark.
//
// To measure again, in internal/peers, with RAGTEST_DATA set:
//
//	go test -run='^$' -bench='TokenCount|FixedToken|TokenLengths' -count=5 .
//
// Note: candidates compared on the same text:
//   - tiktoken-go/tokenizer v0.10.0 by itself gives other tokens than OpenAI where
//     white space has several line ends, as in "  \n  \n" (once in Chroma's
//     corpora), takes quadratic time there (minutes for a megabyte of " \n"), leaves
//     out DEL, replaces invalid UTF-8 by U+FFFD, so that positions are lost, and
//     cannot be cancelled within a text.
//   - pkoukk/tiktoken-go v0.1.8 downloads its vocabularies at run time unless
//     given a loader from another module.
//   - Both take 'ſ, with a long s, for no contraction, as js-tiktoken 1.0.21 does.
//   - This package takes linear time (O(n log n) within a word), and allocates
//     nothing for each token.
//
// # Tokenizers of models
//
// [ReadTokenizer] reads WordPiece and Unigram. The tokens of WordPiece are those
// of @huggingface/tokenizers 0.2.0 for bert-base-uncased, the tokenizer of
// all-MiniLM-L6-v2, on the same texts. Differences are possible where that
// implementation, in JavaScript, lower-cases whole texts: a final capital sigma
// stays σ here, as in Hugging Face's own, in Rust. Characters are classified by
// the version of Unicode that Go has, where Hugging Face's is older: some marks
// and symbols that are new since Unicode 8 are cut otherwise.
//
// The tokens of Unigram are those of Hugging Face's tokenizers 0.23.2 (Rust) for
// a Model2Vec model on XQuAD in English, Chinese and Arabic, and for thirteen
// tokenizers of a small vocabulary on a list of odd strings, byte fallback and
// precompiled charsmap included. @huggingface/tokenizers, which reads neither of
// these, gives the same where it reads the file. Text that is not valid UTF-8 is
// taken for U+FFFD, byte by byte.
//
// A text of 200 tokens takes about 17 µs of CPU time by WordPiece, and 100 µs by
// Unigram with a normalizer of 35 rules (AMD EPYC, November 2026).
package tokens
