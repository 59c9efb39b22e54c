// Package openai embeds texts, and asks language models, through the API of
// OpenAI: that of OpenAI itself, of Azure OpenAI, and of the many servers that
// speak it too, such as Ollama, vLLM, LM Studio and Text Embeddings Inference.
//
//	openai.Embedder{}                                            // OpenAI, text-embedding-3-small
//	openai.Embedder{Model: "text-embedding-3-large", Dimensions: 256}
//	openai.Embedder{BaseURL: "http://localhost:11434/v1", Model: "nomic-embed-text",
//		DocumentPrefix: "search_document: ", QueryPrefix: "search_query: "}
//	openai.Embedder{BaseURL: "https://NAME.openai.azure.com", APIVersion: "2024-10-21", Deployment: "embed"}
//
// [Embedder] is a [ragtest.Embedder], [Client] an [llm.Client]. Both are plain
// values, safe for concurrent use.
//
// # Keys
//
// A key is the field APIKey or, if that is empty, the environment variable
// OPENAI_API_KEY, with Azure AZURE_OPENAI_API_KEY before it, read at each call.
// White space around it is ignored. It is sent to the server that BaseURL names,
// whichever that is. OpenAI and Azure need one; requests to another server go
// without an Authorization header if there is none. The key is part of no error,
// name or other output, not even where a server repeats it.
//
// # Faults
//
//	what                                              repeated  what the error says
//	status 429                                        yes       status, the server's message, attempts
//	429 with the code insufficient_quota              no        the same: waiting does not help
//	status 408, 5xx but 501 and 505                   yes       the same
//	status 400, 401, 403, 404, 422, redirects, others no        the same
//	no complete answer within Timeout                 yes       the limit, attempts
//	connection reset, closed, answer broken off       yes       the connection's error, attempts
//	connection refused, no such host, TLS             no        the connection's error
//	an answer that is JSON cut short, or empty        yes       how many bytes came, attempts
//	an answer that is no JSON, or an error            no        its beginning, or the error's message
//	an answer of more than 256 MiB                    no        the limit
//	too few or too many vectors                       no        how many came for how many texts
//	an index twice, or out of range                   no        the index
//	vectors in another order than the texts           –         no error: they are put in order
//	null in a vector                                  no        the text and the component
//	a number too large for a float32, NaN, infinity   no        the number
//	an empty vector, or one of another dimension      no        the text, both dimensions
//	no choice in a completion                         no        that there is none
//	the context is done                               no        its cause, and the last answer
//
// Before a request is sent, these are errors that name the text by its place in
// the call and its beginning: a text that is empty, is not valid UTF-8, or has
// more tokens than the model takes (unless Truncate is set). So are fields that
// contradict each other, and a key that is missing: see Validate.
//
// A repetition waits at random up to 1, 2, 4, … 32 seconds, and before that as
// long as the server asks by Retry-After. Seven attempts are made, within five
// times Timeout and at least 5 minutes in all; if the server asks for more, the
// request fails at once. The context ends a wait.
//
// # Tokens, limits, prices
//
// OpenAI limits a request to 2,048 texts and 300,000 tokens, and a text to 8,191
// tokens of cl100k_base ([tokens.CL100K]). For other models what the server takes
// is not known: requests have at most 32 texts, the default limit of Text
// Embeddings Inference, and a text counts one token for each byte, which the
// tokenizers in use do not exceed, until Tokenizer, MaxTokens, BatchTexts and
// BatchTokens say better.
//
// The tokens that the service reports are counted with [ragtest.CountUsage], with
// their cost if a price is given, and so appear in the diagnostics of an
// evaluation.
//
// The protocol is that of https://platform.openai.com/docs/api-reference and, for
// Azure, https://learn.microsoft.com/azure/ai-services/openai/reference.
package openai
