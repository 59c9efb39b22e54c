// Package ragtest tests the retrieval half of RAG systems with go test.
//
// A test gives an evaluation the corpus, the queries with their ground truth,
// and the components of the system: chunker, embedder, vector store, reranker,
// or a retriever that replaces some of them. It states thresholds, and fails
// with the queries that fell short and what they missed:
//
//	func TestHandbook(t *testing.T) {
//		ragtest.RunTokenLevel(t, ragtest.TokenLevel{
//			Corpus:   corpus,
//			Queries:  queries,
//			Chunker:  chunkers.RecursiveCharacter{Size: 400},
//			Embedder: myEmbedder,
//		}, ragtest.SpanRecall.AtLeast(0.8))
//	}
//
// The same call in a benchmark reports the metrics, so that benchstat shows
// what a new chunker or embedder gains or loses.
//
// # Three kinds of ground truth
//
// [TokenLevel] judges by characters: the spans of the documents that answer
// each query. It does not depend on the chunker, so it compares chunkers
// fairly, and is what to begin with. [ChunkLevel] judges by the IDs of relevant
// chunks: simpler, but bound to the chunker that made them. [DocumentLevel] judges
// by graded documents, as public retrieval benchmarks do. Types keep the three
// apart: what belongs to one does not compile with another.
//
// # Determinism
//
// Equal input gives an equal [Result], byte for byte, on every run, at every
// GOMAXPROCS and on every machine, as far as the components do: ties are broken
// by insertion order, sums are taken in a fixed order, and neither a clock nor
// an unseeded random number reaches a result.
//
// # Environment
//
// The package registers no flags and reads no environment variable. Importing
// it pulls in the standard library only, without net/http: adapters for
// services and databases are packages of their own below this one.
package ragtest
