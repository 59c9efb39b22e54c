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
// # Long sweeps
//
// With a Dir, cells that are finished are kept and not evaluated again, whether the
// sweep was interrupted or its grid has grown; with a Shard, several machines share a
// grid, and [Merge] joins their reports. The same grid gives the same report, byte for
// byte, on every run and however it was shared out or interrupted.
package sweep
