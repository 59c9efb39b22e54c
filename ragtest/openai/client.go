package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/rageval/rageval/internal/retryhttp"
	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/ragtest/llm"
)

// Client is an [llm.Client] that asks a server for chat completions. The zero
// value asks OpenAI, with the key in OPENAI_API_KEY. It is a value and may be
// used concurrently.
//
// A temperature of 0 is sent as such. Models that think before they answer (o1,
// o3, o4, gpt-5 and later) take no temperature: for them it is left out.
//
// A schema is enforced by the server. Strictly, if it is in OpenAI's strict
// subset: each object requires all of its properties and allows no others.
//
// A refusal, and a prompt that Azure's content filter stops, are answers with
// [llm.FinishContentFilter]; their text is what the model or the server says of
// it.
type Client struct {
	Model      string // of requests that name none; "": gpt-4.1-mini
	BaseURL    string // what /chat/completions is appended to; "": https://api.openai.com/v1. Azure: that of the resource
	APIKey     string `json:"-"` // "": from the environment; see the package documentation
	APIVersion string // of Azure OpenAI, such as 2024-10-21; "": the server is not Azure, or is Azure with a BaseURL in /openai/v1
	Deployment string // Azure's name for the deployed model; "": the model of the request

	MaxTokens int // of an answer, for requests that do not say; 0: the service's limit

	InputPricePerMillion  float64 // US dollars for a million tokens that are sent, for the diagnostics; 0: none
	OutputPricePerMillion float64 // and that the model answers

	Timeout   time.Duration     // of one attempt at a request, with its answer; 0: 3 minutes
	Transport http.RoundTripper // sends each attempt; nil: http.DefaultTransport
}

const (
	defaultChatModel   = "gpt-4.1-mini"
	defaultChatTimeout = 3 * time.Minute
)

func (c Client) model() string { return cmp.Or(c.Model, defaultChatModel) }

// String returns openai/ and the model, with host and path of BaseURL, and
// Deployment, if they are set.
func (c Client) String() string {
	s := "openai/" + c.model()
	if c.BaseURL != "" {
		s += "/baseurl=" + c.service(c.model()).place()
	}
	if c.Deployment != "" {
		s += "/deployment=" + c.Deployment
	}
	return s
}

// GoString returns what String does: no format shows the key.
func (c Client) GoString() string { return c.String() }

// Validate returns an error if fields are out of range or contradict each other.
// Whether there is a key is seen by Complete only.
func (c Client) Validate() error { return c.validate(c.model()) }

func (c Client) validate(model string) error {
	p := cmp.Or(
		c.service(model).problem(),
		priceProblem("InputPricePerMillion", c.InputPricePerMillion),
		priceProblem("OutputPricePerMillion", c.OutputPricePerMillion))
	if p == "" && c.MaxTokens < 0 {
		p = fmt.Sprintf("MaxTokens is %d: want 0, for the service's limit, or more", c.MaxTokens)
	}
	if p != "" {
		return errors.New("openai.Client: " + p)
	}
	return nil
}

func (c Client) service(model string) service {
	return service{
		model: model, baseURL: c.BaseURL, apiKey: c.APIKey, apiVersion: c.APIVersion, deployment: c.Deployment,
		timeout: cmp.Or(c.Timeout, defaultChatTimeout), transport: c.Transport,
	}
}

// Complete asks for the continuation of a conversation. A model named by the
// request takes the place of Model.
func (c Client) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	model := cmp.Or(r.Model, c.model())
	if err := c.validate(model); err != nil {
		return llm.Response{}, err
	}
	response, err := c.complete(ctx, model, r)
	if err != nil {
		return llm.Response{}, fmt.Errorf("asking %s: %w", model, err)
	}
	return response, nil
}

func (c Client) complete(ctx context.Context, model string, r llm.Request) (llm.Response, error) {
	request, err := c.request(model, r)
	if err != nil {
		return llm.Response{}, err
	}
	client, err := c.service(model).client(exchange{request: sendZero})
	if err != nil {
		return llm.Response{}, err
	}
	answer, err := client.CreateChatCompletion(ctx, request)
	if err != nil {
		err = retryhttp.Cause(err)
		var refused *retryhttp.Error
		if errors.As(err, &refused) && refused.Status == http.StatusBadRequest && refused.Code == llm.FinishContentFilter {
			return llm.Response{Text: refused.Message, FinishReason: llm.FinishContentFilter}, nil
		}
		return llm.Response{}, err
	}
	usage := answer.Usage
	ragtest.CountUsage(ctx, ragtest.Usage{
		Component: "openai", Model: model, Calls: 1, Tokens: usage.PromptTokens + usage.CompletionTokens,
		Cost: (float64(usage.PromptTokens)*c.InputPricePerMillion + float64(usage.CompletionTokens)*c.OutputPricePerMillion) / 1e6,
	})
	if len(answer.Choices) == 0 {
		return llm.Response{}, errors.New("the server answered without a choice")
	}
	first := answer.Choices[0]
	text := first.Message.Content
	for _, part := range first.Message.MultiContent { // as some servers answer
		text += part.Text
	}
	response := llm.Response{
		Text:         text,
		FinishReason: string(first.FinishReason),
		Usage:        llm.Usage{InputTokens: usage.PromptTokens, OutputTokens: usage.CompletionTokens},
	}
	if first.Message.Refusal != "" {
		response.FinishReason = llm.FinishContentFilter
		if response.Text == "" {
			response.Text = first.Message.Refusal
		}
	}
	return response, nil
}

// request returns the SDK's form of a request.
func (c Client) request(model string, r llm.Request) (sdk.ChatCompletionRequest, error) {
	request := sdk.ChatCompletionRequest{Model: model}
	if len(r.Messages) == 0 {
		return request, errors.New("the request has no message, want at least one")
	}
	for i, m := range r.Messages {
		if err := checkText(m.Content); err != nil {
			return request, fmt.Errorf("message %d %w", i, err)
		}
		request.Messages = append(request.Messages, sdk.ChatCompletionMessage{Role: m.Role, Content: m.Content})
	}
	if t := r.Temperature; t != nil {
		switch {
		case !(*t >= 0 && *t <= 2):
			return request, fmt.Errorf("the request's Temperature is %v: want 0 to 2", *t)
		case thinks(model):
		case float32(*t) == 0:
			request.Temperature = zeroTemperature
		default:
			request.Temperature = float32(*t)
		}
	}
	if r.Seed != nil {
		seed := int(*r.Seed)
		if int64(seed) != *r.Seed {
			return request, fmt.Errorf("the request's Seed is %d, which is too large for this processor", *r.Seed)
		}
		request.Seed = &seed
	}
	switch maxTokens := cmp.Or(r.MaxTokens, c.MaxTokens); {
	case maxTokens < 0:
		return request, fmt.Errorf("the request's MaxTokens is %d: want 0, for the client's, or more", maxTokens)
	case thinks(model) || c.service(model).isOpenAI():
		request.MaxCompletionTokens = maxTokens
	default:
		//lint:ignore SA1019 it is the name that other servers know
		request.MaxTokens = maxTokens
	}
	if len(r.Schema) > 0 {
		strict, err := isStrict(r.Schema)
		if err != nil {
			return request, fmt.Errorf("the request's Schema is not a JSON Schema: %w", err)
		}
		request.ResponseFormat = &sdk.ChatCompletionResponseFormat{
			Type:       sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{Name: "answer", Schema: json.RawMessage(bytes.Clone(r.Schema)), Strict: strict},
		}
	}
	return request, nil
}

// thinks reports whether the SDK knows the model as one that takes neither a
// temperature nor max_tokens, the older name of max_completion_tokens.
func thinks(model string) bool {
	return sdk.NewReasoningValidator().Validate(sdk.ChatCompletionRequest{Model: model, Temperature: 0.5}) != nil
}

// The SDK leaves a temperature of 0 out of the request, which means 1. It is
// given the smallest number instead, and what it writes for that is replaced:
// not all servers take a tiny temperature for 0.
const zeroTemperature = math.SmallestNonzeroFloat32

func sendZero(body []byte) []byte {
	return bytes.Replace(body, []byte(`"temperature":1e-45`), []byte(`"temperature":0`), 1)
}
