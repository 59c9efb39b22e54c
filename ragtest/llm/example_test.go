package llm_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/rageval/rageval/ragtest/llm"
)

// A client in a few lines: here one that needs no model, as tests like it.
func ExampleFunc() {
	var client llm.Client = llm.Func(func(ctx context.Context, r llm.Request) (llm.Response, error) {
		if err := ctx.Err(); err != nil {
			return llm.Response{}, err
		}
		last := r.Messages[len(r.Messages)-1].Content
		return llm.Response{
			Text:         strings.ToUpper(last),
			FinishReason: llm.FinishStop,
			Usage:        llm.Usage{InputTokens: len(strings.Fields(last)), OutputTokens: len(strings.Fields(last))},
		}, nil
	})

	zero := 0.0
	answer, err := client.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "Shout."},
			{Role: llm.RoleUser, Content: "annual leave is 28 days"},
		},
		Temperature: &zero,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Text, answer.FinishReason, answer.Usage.Add(answer.Usage))
	// Output: ANNUAL LEAVE IS 28 DAYS stop {10 10}
}
