// Package llm is how the packages of this module talk to a language model: one
// small interface, without a client of its own. An adapter to a service, or ten
// lines around the client that you have, makes any model usable wherever a
// [Client] is asked for; in tests a [Func] with scripted answers does.
//
// Nothing here retries, waits, logs or reads a key: that belongs to the client.
package llm

import (
	"context"
	"encoding/json"
)

// Client completes conversations. It must be safe for concurrent use, must not
// modify or keep the request, and returns promptly when the context is done.
//
// An answer that the model cut short or refused is not an error: it is told by
// [Response.FinishReason]. Errors are for requests that had no answer. A client
// that repeats failed requests does so before it returns an error: callers do
// not repeat them.
type Client interface {
	Complete(ctx context.Context, r Request) (Response, error)
}

// Request is a conversation, and how it is to be continued. What a field's zero
// value leaves open is the client's choice, or the service's.
type Request struct {
	Model    string    // "": the client's default
	Messages []Message // oldest first; at least one

	// Temperature is what the distribution of tokens is sharpened by: 0 is as
	// deterministic as the service can be. Nil: the service's default, which
	// is not 0.
	Temperature *float64

	// Seed asks for the same answer to the same request. Nil: none. Services
	// treat it as a wish.
	Seed *int64

	// Schema is a JSON Schema that Response.Text is to satisfy. Empty: plain
	// text. A client whose service knows no schemas ignores it, so prompts say
	// in words too what they want, and answers are checked.
	Schema json.RawMessage

	MaxTokens int // most tokens of the answer; 0: the client's default
}

// The roles of messages.
const (
	RoleSystem    = "system"    // instructions for the whole conversation
	RoleUser      = "user"      // what is asked
	RoleAssistant = "assistant" // what the model answered
)

// Message is one turn of a conversation.
type Message struct {
	Role    string // one of the Role constants, or another that the service knows
	Content string
}

// The reasons why an answer ended, by the names that most services use.
// Adapters translate others into these.
const (
	FinishStop          = "stop"           // the model was done
	FinishLength        = "length"         // MaxTokens, or the model's own limit: the text is cut off
	FinishContentFilter = "content_filter" // withheld or refused: the text may be empty
)

// Response is the model's answer.
type Response struct {
	Text         string // may be empty
	FinishReason string // one of the Finish constants, or the service's own; "": not known
	Usage        Usage  // zero: not known
}

// Usage counts the tokens that a request cost, as the service reports them.
type Usage struct {
	InputTokens  int // of the request's messages
	OutputTokens int // of the answer, with those that the model spent on thinking
}

// Add returns the sum of both counts.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens}
}

// Func is a function that is a [Client].
type Func func(ctx context.Context, r Request) (Response, error)

// Complete calls f.
func (f Func) Complete(ctx context.Context, r Request) (Response, error) { return f(ctx, r) }
