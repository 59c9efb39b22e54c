// Package lexical retrieves by the words that texts share: an embedder and a
// retriever that need no model, no download and no key, and [Fuse], which
// merges the results of several retrievers.
//
// It is lexical: it knows no synonyms, no meaning and no translation. A query
// that says "automobile" does not find a chunk that says "car". That makes it a
// fast and reproducible default for tests of a retrieval pipeline, and a
// baseline that a model must beat; it does not replace one.
//
// # Terms
//
// Texts are cut into words by Unicode's default segmentation (UAX #29) and
// folded: lower case, no accents, no Arabic and Hebrew points, ASCII digits, no
// commas within numbers. Of identifiers and the like (snake_case, camelCase,
// example.com) both the parts of more than one byte and the whole are words. A
// pictograph is a word. Of a word, about the first 64 bytes count.
//
// English function words are dropped, and words of the letters a to z are
// stemmed by the English Snowball stemmer; so are, harmlessly, those of other
// languages in these letters. Languages with other letters are not stemmed and
// have no stop list. Han, Kana, Thai, Lao, Khmer and Burmese, which are written
// without spaces, and Hangul are cut into single characters and pairs of
// neighbours.
//
// # Figures
//
// Span recall at 5 on Chroma's chunking_evaluation data: 472 questions, five
// corpora in one index, recursive chunks of at most 800 and 400 characters and
// fixed windows of 800, without overlap (2,609, 5,259 and 1,807 chunks), measured
// in November 2026:
//
//	                                  800    400    fixed 800
//	BM25, k1 1.2, b 0.75              0.824  0.724  0.862
//	Embedder, 2048 dimensions         0.758  0.640  0.806
//	Embedder, 1024 dimensions         0.724  0.618  0.782
//	Embedder, 2048, fitted            0.767  0.642  0.820
//	Fuse of BM25 and Embedder         0.804  0.693  0.833
//
// Two lexical rankings fused are not better than the better of them: fuse BM25
// with a model. What matters to the Embedder, at 800 and 400 characters: without
// a stop list about 0.57 and 0.52, with one of 33 words 0.67 and 0.57, without
// character n-grams 0.75 and 0.61. BM25 loses no more than 0.03 without a stop
// list, for document frequencies do the same work.
//
// Share of the questions of XQuAD whose own paragraph, of 240, is ranked first
// (chance: 0.004):
//
//	                                  English  Chinese  Arabic
//	BM25                              0.925    0.932    0.819
//	Embedder                          0.899    0.850    0.759
//	Embedder, fitted                  0.908    0.876    0.797
//
// On SciFact as BEIR publishes it, 300 queries over 5,183 abstracts, nDCG@10 is
// 0.690 with BM25 and 0.577 with the Embedder.
//
// Tests of this package assert the figures of the tables and of SciFact.
package lexical
