// Package sweep evaluates whole design spaces of retrieval: every combination of
// chunkers, embedders or retrievers, rerankers and K, at token level, over one
// collection.
//
//	report := sweep.Run(t, sweep.Grid{
//		Corpus:       c.Corpus,
//		Queries:      c.Queries,
//		ChunkerNames: []string{"fixed/size=200", "recursive/size=200", "recursive/size=400/overlap=50"},
//		Embedders:    []ragtest.Embedder{lexical.Embedder{}},
//		K:            []int{1, 3, 5, 10},
//		Budget:       sweep.AtTokens(2000),
//	})
//
// Each combination is a [Cell]. Its result is the one that [ragtest.RunTokenLevel]
// gives for that configuration alone, but no work is done twice: a document is chunked
// once by each chunker, a distinct text embedded once by each embedder, whichever
// chunkers make it, and queries once; candidates are retrieved once at the greatest
// depth and reranked once for each FetchK, and every K is judged on these rankings.
// What that saved is part of the report.
//
// # Which one is best
//
// The highest mean need not be the best configuration, and where many are compared
// some are lucky: [Report.Standings] says which cannot be told from the first. Equal K
// is no fair comparison of chunks of different sizes: a [Budget] compares what fits
// into the same context, and [Report.Warnings] says where that matters. What a gain
// costs is in [Report.Pareto]. [Report.Page] draws it all, and [Run] writes it beside
// the report.
//
// # What it saves
//
// How much faster a sweep is than its cells alone depends on how many texts the
// chunkers have in common: what is left is chunking, embedding and comparing the
// distinct ones. On Chroma's five corpora and 472 queries with the lexical embedder
// and one K, 150 recursive chunkers (30 sizes, 5 overlaps; 13 % of their texts are
// distinct) take 4.7 s of processor time, 5.7 times less than 150 evaluations, and
// 0.2 GB; 150 of three kinds (52 % distinct) 9.3 s, 2.9 times less, and 0.3 GB; of six
// kinds (50 %) 11.3 s, 2.7 times less, and 0.4 GB. 15 chunkers with 10 K each take
// 2.5 s, 10 times less. A single evaluation takes up to 0.3 GB. In each case chunking,
// embedding distinct texts and searching for each chunker alone take 0.7 to 2.7 times
// the processor time of the sweep. (November 2026, two cores of an AMD EPYC;
// RAGTEST_DATA=... go test -run='^$' -bench=Grid.)
//
// # Long sweeps
//
// With a Dir, cells that are finished are kept and not evaluated again, whether the
// sweep was interrupted or its grid has grown; with a Shard, several machines share a
// grid, and [Merge] joins their reports. The same grid gives the same report, byte for
// byte, on every run and however it was shared out or interrupted.
package sweep
