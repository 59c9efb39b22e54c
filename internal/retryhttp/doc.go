// Package retryhttp is the HTTP layer of the adapters to hosted APIs that speak
// JSON: it repeats what failed for a reason that passes, and gives up in bounded
// time with an error that says what happened.
//
// A [Transport] reads each answer to its end before it returns it, so that an
// answer that breaks off is repeated as well. What it does:
//
//	what happened                                     repeated
//	status 2xx and a complete JSON body               it is the answer
//	status 2xx, the body breaks off or is cut short   yes
//	status 2xx, the body is no JSON, or an object
//	with a member "error" (an object, a text)         no
//	status 2xx, the body is longer than MaxResponse   no
//	status 408, 429, 5xx but 501 and 505              yes, unless Final says no
//	any other status, 400, 401, 403, 404, 422 and
//	redirects among them                              no
//	no complete answer within AttemptTimeout          yes
//	connection reset, or closed before an answer      yes
//	DNS: temporary failure                            yes
//	connection refused, no such host, TLS failure     no
//	the request's context is done                     no
//
// A wait before attempt n+1 is drawn uniformly from 0 to FirstWait·2ⁿ⁻¹, at most
// LongestWait ("full jitter", Brooker 2015, "Exponential Backoff And Jitter").
// What the server asks for by Retry-After (RFC 9110, §10.2.3, in seconds or as a
// date) or retry-after-ms (Azure) is waited before that. A wait that would exceed
// MaxElapsed is not begun: the request fails at once.
//
// Requests are repeated whatever their method: use it for requests that may be
// answered twice without harm, such as those to models.
package retryhttp
