// Package cohere reranks and embeds with Cohere's models, and reranks with any
// server that speaks one of four protocols:
//
//	API     request                   services                                   key
//	Cohere  POST BaseURL/v2/rerank    Cohere, vLLM                               CO_API_KEY, COHERE_API_KEY
//	Jina    POST BaseURL/v1/rerank    Jina AI, vLLM, llama.cpp                   JINA_API_KEY
//	Voyage  POST BaseURL/v1/rerank    Voyage AI                                  VOYAGE_API_KEY
//	TEI     POST BaseURL/rerank       Hugging Face's Text Embeddings Inference   none
//
// A BaseURL that ends with /rerank is the whole address: that of a server with
// the same protocol at another path, as Infinity has Jina's at /rerank.
//
// [Reranker] and [Embedder] are values to put into an evaluation:
//
//	ragtest.TokenLevel{
//		…
//		Embedder: cohere.Embedder{},
//		Reranker: cohere.Reranker[chunkers.PositionAwareChunk]{},
//	}
//
// # Keys
//
// A key is the field APIKey or, if that is empty, the environment variable above,
// read at each call. White space around it is ignored. The vendors' own services
// need one; to another server requests without a key are sent without an
// Authorization header. The key is part of no error, name or other output, not
// even where a server repeats it.
//
// # Faults
//
//	what                                               repeated  what the error says
//	status 429                                         yes       status, the server's message, attempts
//	429 to a trial key that is used up for the month   no        the same
//	status 408, 5xx but 501 and 505                    yes       the same
//	status 400, 401, 403, 404, 422, redirects, others  no        the same
//	no complete answer within Timeout                  yes       the limit, attempts
//	connection reset, closed, answer broken off        yes       the connection's error, attempts
//	connection refused, no such host, TLS              no        the connection's error
//	an answer that is JSON cut short, or empty         yes       how many bytes came, attempts
//	an answer that is no JSON, or of another protocol  no        what was read
//	no, or null, results or vectors                    no        that there are none
//	a result without index or score, or null           no        the result, its index
//	an index twice, or out of range                    no        the result, the index
//	a document without a result                        no        how many, the first; none with AllowMissing
//	results in any order                               –         no error: they are sorted by score
//	equal scores                                       –         no error: they keep the order given
//	too few or too many vectors                        no        how many came for how many texts
//	null in a vector, or a number too large            no        the vector and the component
//	an empty vector, or one of another dimension       no        the vector, both dimensions
//	a text longer than the model reads                 no        the server's message; cut with Truncate
//	the context is done                                no        its cause, and the last answer
//
// Before a request is sent, these are errors: a text or query that is empty or
// not valid UTF-8, a key that is missing, and fields that cannot be used: see
// Validate. An error names texts by their places in the call; as services do not
// say which text was too long, the error of an Embedder names the longest of the
// request:
//
//	embedding with embed-v4.0: texts 96 to 191, the longest of which is text 130
//	with 3000 bytes: POST https://api.cohere.com/v2/embed: 400 Bad Request: "too
//	many tokens" (1 attempt)
//
// A repetition waits at random up to 1, 2, 4, … 32 seconds, and before that as
// long as the server asks by Retry-After. Seven attempts are made, within five
// times Timeout, and within 5 minutes if that is more; if the server asks for a
// longer wait, the request fails at once. The context ends a wait.
//
// Cohere's and Jina's rerankers always cut texts that are too long; nobody tells
// which were cut, so none are counted.
//
// # Tokens, limits, prices
//
// A request has at most 1,000 candidates (what Cohere recommends and Voyage
// allows; Jina tells no limit), 32 with TEI (its default limit), or 96 texts to
// embed (Cohere's limit). Voyage also limits the tokens of a request, to 600,000
// with its newer models: with many long candidates set a lower BatchTexts.
//
// Each answered request is counted with [ragtest.CountUsage], with the tokens
// that the service reports and their cost if a price is given, and so appears in
// the diagnostics of an evaluation. Cohere bills reranking by search units, of up
// to 100 documents each, and reports these instead of tokens.
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
