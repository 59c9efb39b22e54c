// Package cohere reranks and embeds with Cohere's models, and reranks with any
// server that speaks one of four protocols:
//
//	API     request                      service                      key
//	Cohere  POST BaseURL/v2/rerank       Cohere, vLLM                 CO_API_KEY, COHERE_API_KEY
//	Jina    POST BaseURL/v1/rerank       Jina AI, vLLM, Infinity,     JINA_API_KEY
//	                                     llama.cpp
//	Voyage  POST BaseURL/v1/rerank       Voyage AI                    VOYAGE_API_KEY
//	TEI     POST BaseURL/rerank          Hugging Face Text            the field APIKey
//	                                     Embeddings Inference
//
// [Reranker] and [Embedder] are values to put into an evaluation:
//
//	ragtest.TokenLevel{
//		…
//		Embedder: cohere.Embedder{},
//		Reranker: cohere.Reranker[chunkers.PositionAwareChunk]{},
//	}
//
// # Faults
//
//	what happened                              what follows
//	408, 429, 5xx but 501 and 505, a           repeated, 7 attempts in all and
//	connection or answer that breaks off,      at most 5 minutes: waits that
//	no complete answer within a minute         double, at random, after what
//	                                           Retry-After asks for; then the
//	                                           error names URL, status, the
//	                                           service's message, attempts
//	400, 401, 403, 404, 413, 422 and others    error at once, the same text
//	more texts than the service takes          several requests; with a BatchSize
//	                                           above its limit, its error
//	a text longer than the model reads         Embedder, Voyage, TEI: the
//	                                           service's error, with the longest
//	                                           text of an Embedder's request;
//	                                           with Truncate it is cut. Cohere's
//	                                           and Jina's rerankers always cut
//	answer that is no JSON, or not the         error that says what was read
//	protocol's; no results at all
//	a score or index that is missing or null   error naming the result
//	an index twice or outside the request      error naming the result and index
//	a document without a score                 error naming its index; with
//	                                           AllowMissing it is dropped
//	fewer or more vectors than texts           error with both numbers
//	an empty vector, differing dimensions,     error naming vector and component
//	null or infinite components
//	equal scores                               keep the order given
//	no key, a field that cannot be used        error naming it; nothing is sent
//	no chunks, no texts                        nothing is sent
//	a context that is done                     its cause, at once
//
// An error names the candidates or texts of its request by their numbers in the
// call: "candidates 0 to 99: POST https://api.cohere.com/v2/rerank: 401
// Unauthorized: "invalid api token" (1 attempt)". No error, result, name or body
// of a request holds the key, not even if the service repeats it.
//
// # Usage
//
// Each answered request counts, with its tokens where the service tells them, in
// the evaluation's diagnostics. The cost is that of the prices in the fields:
// Cohere bills reranking by search units, which its answers tell (100 documents
// of 500 tokens each are one), the others by tokens.
//
// # Sources
//
// The protocols and limits are those of docs.cohere.com/reference/rerank and
// /embed (v2), api.jina.ai, docs.voyageai.com/reference/reranker-api and the
// OpenAPI document of Text Embeddings Inference 1.7, as of 2026. CO_API_KEY is
// what Cohere's own SDKs read, COHERE_API_KEY what LangChain and LlamaIndex do.
//
// Note: Cohere's SDK for Go (cohere-go/v2 v2.15.3) is not used. It would add four
// modules, the core of AWS's SDK among them, and 0.35 MB to a program, which is
// bearable. But it speaks one protocol of the four, reads a null score as 0,
// ignores Retry-After, and its own retries sleep on when the context is done: a
// call with a deadline of 100 ms that met a 429 returned after 501 ms. Plain HTTP
// needs one module, for the waits, shared with the other adapters.
package cohere
