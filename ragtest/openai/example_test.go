package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/rageval/rageval/ragtest/llm"
	"github.com/rageval/rageval/ragtest/openai"
)

// Any server of the same protocol will do; here it is one that answers each
// text with the same vector. Without BaseURL the embedder asks OpenAI.
func ExampleEmbedder() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}],"usage":{"total_tokens":5}}`)
	}))
	defer server.Close()

	embedder := openai.Embedder{BaseURL: server.URL + "/v1", Model: "nomic-embed-text", APIKey: "none"}
	vectors, err := embedder.Embed(context.Background(), []string{"annual leave", "printers"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(vectors)
	// Output: [[1 0] [0 1]]
}

func ExampleEmbedder_String() {
	fmt.Println(openai.Embedder{})
	fmt.Println(openai.Embedder{Model: "text-embedding-3-large", Dimensions: 256})
	fmt.Println(openai.Embedder{BaseURL: "http://localhost:11434/v1", Model: "nomic-embed-text"})
	// Output:
	// openai/text-embedding-3-small
	// openai/text-embedding-3-large/dimensions=256
	// openai/nomic-embed-text/baseurl=localhost:11434/v1
}

// An answer that satisfies a schema.
func ExampleClient() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"choices":[{"message":{"role":"assistant","content":"{\"days\":28}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":5}}`)
	}))
	defer server.Close()

	client := openai.Client{BaseURL: server.URL + "/v1", Model: "llama3.2", APIKey: "none"}
	zero := 0.0
	answer, err := client.Complete(context.Background(), llm.Request{
		Messages:    []llm.Message{{Role: llm.RoleUser, Content: "How many days of leave are there? Annual leave is 28 days."}},
		Temperature: &zero,
		Schema:      json.RawMessage(`{"type":"object","properties":{"days":{"type":"integer"}},"required":["days"],"additionalProperties":false}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text, answer.FinishReason, answer.Usage)
	// Output: {"days":28} stop {12 5}
}
