// Package beam runs a sweep as an Apache Beam pipeline, for corpora that no machine
// holds. The report is that of [sweep.Grid.Evaluate], byte for byte. It is a module of
// its own, so that nobody else depends on Beam.
//
//	p, scope := sdk.NewPipelineWithRoot()
//	corpus, err := beam.Read(ctx, scope, "gs://bucket/corpus/*.jsonl")
//	report, err := beam.Evaluate(scope, beam.Sweep{
//		Queries:   queries,
//		Chunkers:  []string{"recursive/size=400", "recursive/size=800/overlap=100"},
//		Embedders: []string{"lexical"},
//	}, corpus)
//	err = beam.Write(scope, "gs://bucket/report.json", report)
//	err = beamx.Run(ctx, p)
//
// Command ragtest-beam, in cmd/ragtest-beam, is such a program: the same binary runs in
// its own process, on a job server such as Prism's, and on Flink, Spark or Dataflow.
// Workers make components from their names, for functions do not travel: see
// [RegisterEmbedder].
//
// # How it works
//
//  1. Chunk. Each document is cut by all chunkers. A chunk goes to the shard that the
//     SHA-256 of its text selects, so that equal texts meet.
//  2. Embed and search. A worker embeds the distinct texts of a shard, 4,096 at a time,
//     once by each embedder, and finds the best chunks of the shard for each query, as
//     [ragtest.MemoryStore] does. No vector leaves the worker. Of the chunks of one text
//     only the first can be among the best K, or FetchK: as many, and no more, are kept.
//  3. Merge. Of each query the best of all shards remain: chunks' places and scores, no
//     texts. Runners begin with that on the worker that searched.
//  4. Score. The documents that hold a hit or relevant text are read again and chunked
//     again, by one worker, which evaluates the sweep on them with the rankings that were
//     found, rerankers included: with the counts of the whole corpus that is the report.
//
// Nothing depends on the order of elements or bundles, or on which worker has what:
// equal scores are ranked by the place of the document in the corpus, then of the chunk
// in the document, as a local sweep ranks them. Chunkers, embedders and rerankers must give equal results for
// equal arguments; a chunker that does not is found out in step 4.
//
// What [sweep.Grid] has beyond [Sweep] is not there: Retrievers and stores, which hold a
// whole corpus; Budget and EquivalentText, which depend on one; SliceBy, Cost, Visit and
// Dir. [sweep.Report.Work] and Usage are not part of a report's JSON form, nor of what workers tell.
//
// # What it costs
//
// Let there be N chunks by all chunkers together, of T bytes of text each, E embedders
// with D components, Q queries and k candidates for each.
//
//   - Embedding, N·E texts less the copies, dominates by far with any model that
//     understands what it reads.
//   - Search takes N·E·Q·D multiplications and as many additions.
//   - The corpus is read three times: to be chunked; by one worker, in sequence, for its
//     fingerprint; and to select the documents that scoring needs.
//   - Shuffled are N·(T+9) bytes: texts and places. It is 409 bytes for each chunk of
//     400 characters; a vector of 384 components would be 1,536.
//   - Rankings are about 23 bytes for each shard, query, candidate, chunker and
//     embedder, before runners merge those of one worker. Shards of 16 MiB make it 0.44
//     bytes for each chunk of 400 characters with 100 queries and 10 candidates.
//   - A worker needs memory for a shard, a block of 4,096 vectors and its model: 155 MiB
//     at the peak of a process that embeds and searches 16 MiB of texts with vectors of
//     384 components. The worker that scores holds up to Q·k documents for each chunker and
//     embedder, and those with relevant text. The one that computes the fingerprint holds
//     a document, or, unless the corpus is in order of the documents' IDs, about 100
//     bytes for each.
//   - The sweep with its queries is part of the pipeline's description, of which Dataflow
//     takes 10 MB.
//
// Measured on two cores that were busy with other work (load 13 and above), with the
// in-process Prism runner, which keeps in memory what it shuffles; one chunker, 400
// characters, one embedder that makes vectors of 384 components from hashes, 100 queries,
// 10 candidates:
//
//	chunks       wall     per chunk   peak memory, Prism's included
//	   10,000     1.7 s     166 µs    0.18 GB
//	  100,000    12.5 s     125 µs    0.72 GB
//	1,000,000   119.9 s     120 µs    6.3 GB
//
//	RAGTEST_BEAM_CHUNKS=1000000 GOGC=50 go test -run='^$' -bench=Growth -benchtime=1x
//	go test -run='^$' -bench='Shard|Fingerprint'
//
// GOGC was set for the largest alone, which took 46 s of processor time, making the corpus included. Embedding and
// searching a shard is 10 µs of the time per chunk, by the second command, the rest is
// reading, encoding and Prism. Each step is linear in N but for sorting within a shard,
// whose size does not grow.
//
// # To a thousand million chunks, on paper
//
// Assume N = 10^9 chunks of 400 characters from one chunker, in 5·10^7 documents, one
// embedder with D = 384, Q = 500, k = 20, no copies; that time per chunk stays what it is
// from 10^5 to 10^6 here, and searching for 500 queries takes five times as long as for
// 100; that workers do not wait for the network; and 2,000 texts a second from an
// accelerator, or $0.02 for 10^6 tokens of four characters from a service.
//
//   - Embedding: 5·10^5 s of an accelerator, 140 hours, or $2,000.
//   - The rest: 46 µs of a core for each chunk and at most 40 µs more for the search,
//     24 hours of a core: half an hour with 50 cores.
//   - Shuffled: 409 GB of texts and places; 24,000 shards with 5.5 GB of rankings.
//   - Read: three times 410 GB. The fingerprint, at the 150 MB/s that one core did here,
//     takes 45 minutes beside the embedding.
//   - Memory: 0.2 GB for each shard that a worker has in hand, 80 MB of documents for the
//     one that scores, and for the fingerprint's 5 GB unless the corpus is in order.
//
// Not measured are Flink, Spark and Dataflow, none of which runs here: the pipeline has
// nothing but what portable runners share, a splittable read among it, and is tested on
// Prism, in process and as a job server.
package beam
