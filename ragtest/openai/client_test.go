package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rageval/rageval/internal/faulttest"
	"github.com/rageval/rageval/ragtest/llm"
	"github.com/rageval/rageval/ragtest/openai"
)

func user(text string) []llm.Message { return []llm.Message{{Role: llm.RoleUser, Content: text}} }

func TestComplete(t *testing.T) {
	for _, style := range styles {
		t.Run(style.name, func(t *testing.T) {
			a := &api{t: t, azure: style.azure}
			_, url := a.start()
			got, err := a.client(url).Complete(t.Context(), llm.Request{Messages: []llm.Message{
				{Role: llm.RoleSystem, Content: "Shout."}, {Role: llm.RoleUser, Content: "leave \"temperature\":1e-45"},
			}})
			want := llm.Response{Text: `LEAVE "TEMPERATURE":1E-45`, FinishReason: llm.FinishStop, Usage: llm.Usage{InputTokens: 7, OutputTokens: 3}}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("got %v, response (-want +got):\n%s", err, diff)
			}
			sent := a.chats[0]
			if len(sent.Messages) != 2 || sent.Messages[0].Role != "system" || sent.Messages[1].Content != `leave "temperature":1e-45` {
				t.Errorf("got messages %+v", sent.Messages)
			}
			sent.Messages, sent.Stream = nil, nil
			if diff := cmp.Diff(chatRequest{Model: "gpt-4.1-mini"}, sent); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequestFields(t *testing.T) {
	for _, test := range []struct {
		name    string
		client  func(*openai.Client)
		request llm.Request
		want    chatRequest
	}{
		{"temperature 0", nil, llm.Request{Temperature: new(0.0)}, chatRequest{Temperature: new(0.0)}},
		{"temperature", nil, llm.Request{Temperature: new(0.5)}, chatRequest{Temperature: new(0.5)}},
		{"the smallest temperature", nil, llm.Request{Temperature: new(math.SmallestNonzeroFloat64)}, chatRequest{Temperature: new(0.0)}},
		{"seed", nil, llm.Request{Seed: new(int64(math.MinInt64))}, chatRequest{Seed: new(int64(math.MinInt64))}},
		{"seed 0", nil, llm.Request{Seed: new(int64(0))}, chatRequest{Seed: new(int64(0))}},
		{"limit", nil, llm.Request{MaxTokens: 9}, chatRequest{MaxTokens: new(9)}},
		{"client's limit", func(c *openai.Client) { c.MaxTokens = 8 }, llm.Request{}, chatRequest{MaxTokens: new(8)}},
		{"both limits", func(c *openai.Client) { c.MaxTokens = 8 }, llm.Request{MaxTokens: 9}, chatRequest{MaxTokens: new(9)}},
		{"client's model", func(c *openai.Client) { c.Model = "llama" }, llm.Request{}, chatRequest{Model: "llama"}},
		{"both models", func(c *openai.Client) { c.Model = "llama" }, llm.Request{Model: "qwen"}, chatRequest{Model: "qwen"}},
		{"a model that thinks", func(c *openai.Client) { c.Model = "gpt-5-mini" }, llm.Request{Temperature: new(0.0), MaxTokens: 9}, chatRequest{Model: "gpt-5-mini", MaxCompletionTokens: new(9)}},
		{"a newer one", func(c *openai.Client) { c.Model = "gpt-6-luna" }, llm.Request{Temperature: new(0.0), MaxTokens: 9}, chatRequest{Model: "gpt-6-luna", MaxCompletionTokens: new(9)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := &api{t: t}
			_, url := a.start()
			c := a.client(url)
			if test.client != nil {
				test.client(&c)
			}
			test.request.Messages = user("hi")
			if _, err := c.Complete(t.Context(), test.request); err != nil {
				t.Fatal(err)
			}
			if test.want.Model == "" {
				test.want.Model = "gpt-4.1-mini"
			}
			got := a.chats[0]
			got.Messages, got.Stream = nil, nil
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}

// OpenAI itself wants the newer name of the limit.
func TestLimitOfOpenAI(t *testing.T) {
	a := &api{t: t}
	c := openai.Client{APIKey: canary, Transport: inMemory{a}}
	if _, err := c.Complete(t.Context(), llm.Request{Messages: user("hi"), MaxTokens: 5}); err != nil {
		t.Fatal(err)
	}
	if got := a.chats[0]; got.MaxTokens != nil || got.MaxCompletionTokens == nil || *got.MaxCompletionTokens != 5 {
		t.Errorf("got %+v, want max_completion_tokens 5", got)
	}
}

func TestSchema(t *testing.T) {
	for schema, strict := range map[string]bool{
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`:                                                                                              true,
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":[],"additionalProperties":false}`:                                                                                                 false,
		`{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`:                                                                                                                           false,
		`{"type":"object","properties":{"a":{"type":["object","null"]}},"required":["a"],"additionalProperties":false}`:                                                                                      false,
		`{"type":"object","properties":{"default":{"type":"object"}},"required":["default"],"additionalProperties":false}`:                                                                                   false,
		`{"type":"object","properties":{"type":{"enum":["object"],"default":{"type":"object"}}},"required":["type"],"additionalProperties":false}`:                                                           true,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}},"required":["a"],"additionalProperties":false}`:                                                                      false,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/b"}},"required":["a"],"additionalProperties":false,"$defs":{"b":{"type":"object","properties":{},"required":[],"additionalProperties":false}}}`: true,
		`{"type":"array","items":{"type":"integer"}}`: false,
		`{}`: false,
	} {
		a := &api{t: t}
		_, url := a.start()
		_, err := a.client(url).Complete(t.Context(), llm.Request{Messages: user("hi"), Schema: json.RawMessage(schema)})
		if err != nil {
			t.Errorf("%s: %v", schema, err)
			continue
		}
		got := a.chats[0].ResponseFormat.JSONSchema
		if string(got.Schema) != schema || got.Strict == nil || *got.Strict != strict {
			t.Errorf("got %s, strict %v, want %s, strict %v", got.Schema, *got.Strict, schema, strict)
		}
	}
}

func TestFinish(t *testing.T) {
	refusal := completion(nil, "stop")
	refusal["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)["refusal"] = "I cannot help with that."
	for _, test := range []struct {
		answer any
		want   llm.Response
	}{
		{completion("cut o", "length"), llm.Response{Text: "cut o", FinishReason: llm.FinishLength, Usage: llm.Usage{InputTokens: 7, OutputTokens: 3}}},
		{completion("", "content_filter"), llm.Response{FinishReason: llm.FinishContentFilter, Usage: llm.Usage{InputTokens: 7, OutputTokens: 3}}},
		{completion([]any{map[string]any{"type": "text", "text": "in "}, map[string]any{"type": "text", "text": "parts"}}, "stop"), llm.Response{Text: "in parts", FinishReason: llm.FinishStop, Usage: llm.Usage{InputTokens: 7, OutputTokens: 3}}},
		{refusal, llm.Response{Text: "I cannot help with that.", FinishReason: llm.FinishContentFilter, Usage: llm.Usage{InputTokens: 7, OutputTokens: 3}}},
	} {
		a := &api{t: t, chat: func(chatRequest) any { return test.answer }}
		_, url := a.start()
		got, err := a.client(url).Complete(t.Context(), llm.Request{Messages: user("hi")})
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("got %v, response (-want +got):\n%s", err, diff)
		}
	}
	a := &api{t: t, azure: true}
	_, url := a.start(faulttest.Status(400, `{"error":{"message":"The response was filtered","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`))
	got, err := a.client(url).Complete(t.Context(), llm.Request{Messages: user("hi")})
	want := llm.Response{Text: "The response was filtered", FinishReason: llm.FinishContentFilter}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("got %v, response (-want +got):\n%s", err, diff)
	}
}

func TestCompleteErrors(t *testing.T) {
	a := &api{t: t}
	handler, url := a.start()
	for want, test := range map[string]struct {
		set     func(*openai.Client)
		request llm.Request
	}{
		"asking gpt-4.1-mini: the request has no message":             {nil, llm.Request{}},
		"asking gpt-4.1-mini: the request's Temperature is -1":        {nil, llm.Request{Messages: user("hi"), Temperature: new(-1.0)}},
		"asking gpt-4.1-mini: the request's Temperature is NaN":       {nil, llm.Request{Messages: user("hi"), Temperature: new(math.NaN())}},
		`asking gpt-4.1-mini: message 1 is not valid UTF-8 at byte 1`: {nil, llm.Request{Messages: append(user("hi"), user("a\xff")...)}},
		`asking gpt-4.1-mini: message 0 is empty`:                     {nil, llm.Request{Messages: user("")}},
		"asking m: the request's MaxTokens is -1":                     {nil, llm.Request{Messages: user("hi"), MaxTokens: -1, Model: "m"}},
		"asking gpt-4.1-mini: the request's Schema is not":            {nil, llm.Request{Messages: user("hi"), Schema: json.RawMessage(`[1]`)}},
		"openai.Client: MaxTokens is -1":                              {func(c *openai.Client) { c.MaxTokens = -1 }, llm.Request{Messages: user("hi")}},
		"openai.Client: InputPricePerMillion is -1":                   {func(c *openai.Client) { c.InputPricePerMillion = -1 }, llm.Request{Messages: user("hi")}},
		"openai.Client: OutputPricePerMillion is NaN":                 {func(c *openai.Client) { c.OutputPricePerMillion = math.NaN() }, llm.Request{Messages: user("hi")}},
		"openai.Client: BaseURL ends with /chat/":                     {func(c *openai.Client) { c.BaseURL += "/chat/completions" }, llm.Request{Messages: user("hi")}},
		`openai.Client: Deployment is "a b"`:                          {func(c *openai.Client) { c.APIVersion = "v" }, llm.Request{Messages: user("hi"), Model: "a b"}},
	} {
		c := a.client(url)
		if test.set != nil {
			test.set(&c)
		}
		_, err := c.Complete(t.Context(), test.request)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if n := handler.Requests(); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

func TestFaultsOfCompletions(t *testing.T) {
	for _, test := range []struct {
		name     string
		faults   []faulttest.Fault
		requests int
		want     string // within the error; "": none
	}{
		{"repeated", []faulttest.Fault{
			faulttest.Status(429, "", "Retry-After", "0"), faulttest.Status(500, ""), faulttest.Reset, faulttest.BreakOff, faulttest.CutShort, faulttest.SlowBody,
		}, 7, ""},
		{"400", faulttest.Repeat(9, faulttest.Status(400, `{"error":{"message":"context too long","code":"context_length_exceeded"}}`)), 1,
			`/chat/completions: 400 Bad Request: "context too long", code "context_length_exceeded" (1 attempt)`},
		{"no choice", []faulttest.Fault{faulttest.Rewrite(func([]byte) []byte { return []byte(`{"choices":[]}`) })}, 1, "asking gpt-4.1-mini: the server answered without a choice"},
		{"another form", []faulttest.Fault{faulttest.Rewrite(func([]byte) []byte { return []byte(`{"choices":7}`) })}, 1, "asking gpt-4.1-mini: json: cannot unmarshal number"},
	} {
		for _, style := range styles {
			t.Run(test.name+"/"+style.name, func(t *testing.T) {
				a := &api{t: t, azure: style.azure}
				handler, url := a.start(test.faults...)
				c := a.client(url)
				c.Timeout = time.Second
				got, err := c.Complete(t.Context(), llm.Request{Messages: user("hi")})
				if test.want == "" && (err != nil || got.Text != "HI") {
					t.Errorf("got %q and %v, want HI", got.Text, err)
				}
				if test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
					t.Errorf("got %v, want %q", err, test.want)
				}
				if n := handler.Requests(); n != test.requests {
					t.Errorf("got %d requests, want %d", n, test.requests)
				}
			})
		}
	}
}

func TestCompleteIsCancelled(t *testing.T) {
	a := &api{t: t}
	handler, url := a.start(faulttest.Hang)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for handler.Requests() == 0 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err := a.client(url).Complete(ctx, llm.Request{Messages: user("hi")}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestClientString(t *testing.T) {
	for want, c := range map[string]openai.Client{
		"openai/gpt-4.1-mini":                                         {APIKey: canary},
		"openai/llama/baseurl=localhost:8000/v1":                      {APIKey: canary, Model: "llama", BaseURL: "http://localhost:8000/v1"},
		"openai/gpt-4.1-mini/baseurl=x.openai.azure.com/deployment=d": {BaseURL: "https://x.openai.azure.com", APIVersion: apiVersion, Deployment: "d"},
	} {
		for _, got := range []string{c.String(), fmt.Sprintf("%+v", c), fmt.Sprintf("%#v", c)} {
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	}
}
