// Package model2vec embeds texts with static models (Model2Vec, potion) in pure
// Go: no cgo, no network, no Python. [Open] reads a model from a directory.
//
// A static model has a vector for each token, and that of a text is their mean
// (Tulkens & van Dongen 2024, github.com/MinishLab/model2vec, MIT). That is some
// hundred times faster than a transformer and knows synonyms, but no order of
// words: "dog bites man" is "man bites dog". It suits tests, large sweeps and
// semantic chunking; use what production uses for the figures that you publish.
//
// # Getting a model
//
// Any model that Model2Vec has saved will do, for instance
// minishlab/potion-base-2M, -8M or -32M, minishlab/potion-retrieval-32M for
// retrieval, or minishlab/potion-multilingual-128M. Download model.safetensors,
// tokenizer.json and config.json of it into a directory of their own. Nothing is
// downloaded by this package.
//
// # What is an error
//
// [Open] returns errors, and no model, for the following. Nothing is retried.
//
//	what                                         the error says
//	a file is missing                            its path
//	config.json is not JSON                      what was expected
//	tokenizer.json is not JSON                   the byte
//	another tokenizer than WordPiece or          the field, what it holds, what it
//	Unigram, or with rules that are not known    may hold: see [tokens.ReadTokenizer]
//	the header of model.safetensors is absurdly  the length, and what the file has
//	long, not JSON, or cut off
//	a tensor lies outside the file, overlaps     the tensor, its data_offsets or
//	another, has holes before it, or is of       shape, what was found and what was
//	another size than its shape                  expected
//	there is no tensor "embeddings"              the tensors that there are
//	other rows, weights or mappings than         the tensor, its shape, the number
//	tokens                                       of tokens
//	a row or weight that is NaN or infinite, or  the tensor, row and column, or the
//	a mapping to a row that is not there         token
//
// [Embedder.Embed] fails only if its context is done. A text that is empty, or
// has no known token, has the zero vector; what is longer than MaxTokens is cut
// off and counted.
//
// # Figures
//
// Vectors are those of an independent implementation to 10⁻⁶, for
// potion-base-2M and for a model with a quantized vocabulary.
//
// Texts of 200 tokens embedded in a second of one core's CPU time (AMD EPYC under
// load, November 2026): 25,000 with potion-base-2M (WordPiece, 64 dimensions),
// 9,000 with a Unigram model of Model2Vec, whose normalizer has 35 rules. Opening
// potion-base-2M takes 55 ms.
//
// With potion-base-2M, SciFact's nDCG@10 is 0.363; lexical's BM25 has 0.690. On
// Chroma's 76 questions about state_of_the_union, span recall at 5 is, where lexical's embedder has 0.867 over recursive chunks of 800:
//
//	chunker                            chunks  mean size  recall
//	recursive, 800 characters          68      706        0.532
//	semantic, threshold 0.2            238     201        0.606
//	semantic, percentile 80, buffer 1  133     361        0.627
//	semantic, target size 800          61      787        0.582
//	semantic, cluster of at most 800   162     296        0.583
//
// So a model of 64 dimensions is for tests of a pipeline and for cutting, where
// it is fast and close enough; retrieval by its vectors alone is worse than by
// words. Tests of this package assert these figures, but for the times.
package model2vec
