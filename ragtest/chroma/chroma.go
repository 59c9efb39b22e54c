// Package chroma is a vector store on a Chroma server: for teams whose product
// searches there, so that what is measured is what the product finds.
//
// [New] makes a collection for one run, of cosine distance, and [Store.Close]
// deletes it. No other collection is read or changed. The package speaks the v2
// REST API of Chroma 1.0 and later (its description is served by each server at
// /openapi.json) and is tested against a real server of version 1.0.0; it is not
// tested against Chroma Cloud.
//
// # Approximate search
//
// Chroma searches a graph (HNSW) that misses chunks now and then, and misses
// others each time that it is built. Do not record goldens with it, and take
// thresholds with a margin: an evaluation searches exactly as well, and reports
// the difference in its [ragtest.Diagnostics] and as [ragtest.LossIndex].
// [ragtest.MemoryStore] is exact and faster: prefer that one unless Chroma itself
// is under test. On Chroma's own corpora (472 questions, 5,259 chunks of 400
// characters, lexical.Embedder, K = 5), in two to five runs:
//
//	HNSW settings                                          index recall
//	ef_search=10                                           0.835 to 0.879
//	Chroma's own                                           0.991 to 0.995
//	ef_search=400                                          0.999 to 1.000
//	ef_construction=400, ef_search=400, max_neighbors=64   1.000
//
// Of what [ragtest.CheckStore] checks, all holds as long as the graph reaches
// every chunk, as it surely does where max_neighbors exceeds their number. Where it
// does not, a search for k may find others than the first of a search for k+1 if k
// is above ef_search, and fewer than k: of 6,000 vectors of which 3,000 were equal, a
// search for all found 5,985; of 200 vectors in two directions, once 199.
//
// # What Chroma does, and what the store makes of it
//
//   - Chroma returns equal distances in an order of its own, and an arbitrary
//     choice of them where k cuts through: the store asks for more until the
//     score drops below that of rank k, and ranks ties by insertion order.
//   - It takes the zero vector to be at distance 1 from all others: score 0. To
//     search for the zero vector the store does not ask: all chunks score 0.
//   - It ignores a record whose ID it has: the ID of a record is the place of the
//     chunk in the order of insertion, so that equal chunks are kept, and a
//     repeated request changes nothing.
//   - It computes lengths in float32, where the squares of large and small
//     components overflow and underflow: a vector of length 1e-40 is at distance
//     1 from all, a query of length 1e-30 at distance -99 from its own direction.
//     The store sends unit vectors.
//   - It drops metadata whose key begins with "chroma:": the store keeps such
//     keys by another name.
//   - It refuses text that is not UTF-8, which JSON cannot carry: so does the
//     store. Anything else comes back as it was, NUL included.
//
// # Errors
//
//	what                                              where            repeated
//	an endpoint, name or HNSW setting that cannot be  New              no
//	no server at the endpoint, or it is gone          all              no
//	a broken connection; status 408, 429, 5xx;        all              yes
//	an answer that is cut short
//	any other status, a redirect among them           all              no
//	no answer within Config.Timeout                   all              no
//	an answer that is not what was asked for          all              no
//	a collection of another distance, or without the  New              no
//	HNSW settings that were asked for
//	fewer or more vectors than chunks                 Add              no
//	an empty vector, differing dimensions             Add, Search      no
//	a component that is NaN or infinite               Add, Search      no
//	text, metadata or ID that is not UTF-8            Add              no
//	records added or deleted behind the store         Add, Search      no
//	a negative k                                      Search           no
//	a context that is done                            all but Close    no
//	a store that is closed                            all but Close    no
//
// These are not: k = 0, k above the number of chunks, an empty store, a zero
// vector, equal chunks, no chunks to add. Every request may be repeated without
// harm, and is, up to three times: as often as by Chroma's own clients.
//
// What the store itself refuses leaves it as it was. An Add that fails after it
// began to send makes the store unusable, since the server may still carry out a
// request whose answer is lost.
//
// An error names the request, the status and what the server said. The API key,
// a password in the endpoint and the values of Config.Header do not appear in
// errors, unless they are shorter than six bytes.
package chroma
