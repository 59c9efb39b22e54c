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
// by this package. An encoding is loaded when it is first used, never by an
// import. That takes 30 ms of CPU time for cl100k_base and 60 ms for o200k_base;
// 7.5 and 15 MiB stay in memory, half of them the library's own tables.
//
// The tokens are those of js-tiktoken 1.0.21 on the five corpora of Chroma's
// chunking evaluation, on XQuAD in English, Chinese and Arabic and on a list of
// odd strings: the tests hold the record. Text that is not valid UTF-8 has tokens
// too, of its bytes.
//
// Note: candidates compared on the same text, on one core, CPU time:
//   - tiktoken-go/tokenizer v0.10.0 by itself: 8 MB/s. It gives other tokens
//     than OpenAI where white space has several line ends, as in "  \n  \n" (once
//     in Chroma's corpora), takes quadratic time there (minutes for a megabyte of
//     " \n"), replaces invalid UTF-8 by U+FFFD, so that positions are lost, and
//     cannot be cancelled within a text.
//   - pkoukk/tiktoken-go v0.1.6: downloads its vocabularies at run time unless
//     given a loader from another module.
//   - this package with the vocabularies of the first: five times its speed, in
//     linear time (O(n log n) within a word), without allocating for each token.
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
