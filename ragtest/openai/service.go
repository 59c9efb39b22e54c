package openai

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/rageval/rageval/internal/retryhttp"
)

// service is a server and how it is spoken to.
type service struct {
	model      string
	baseURL    string
	apiKey     string
	apiVersion string // of Azure; "": not Azure
	deployment string
	timeout    time.Duration
	transport  http.RoundTripper
}

const openAIURL = "https://api.openai.com/v1"

// firstWait is the longest wait before a request is repeated; 0: the default of
// the transport. Tests shorten it.
var firstWait time.Duration

func (s service) url() string { return cmp.Or(s.baseURL, openAIURL) }

// place returns the base URL without its scheme and what may be secret, "" if it
// is none.
func (s service) place() string {
	u, err := url.Parse(s.url())
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Host+u.EscapedPath(), "/")
}

// isAt reports whether the server's host is the given one or below it.
func (s service) isAt(host string) bool {
	u, err := url.Parse(s.url())
	return err == nil && (u.Hostname() == host || strings.HasSuffix(u.Hostname(), "."+host))
}

// isOpenAI reports whether the server is OpenAI's own, in whatever region.
func (s service) isOpenAI() bool { return s.isAt("api.openai.com") }

// isAzure reports whether the server is Azure, also with a BaseURL in /openai/v1,
// where it is spoken to as OpenAI is.
func (s service) isAzure() bool { return s.apiVersion != "" || s.isAt("azure.com") }

// problem returns what is wrong with the fields, "" if nothing is. It does not
// repeat the URL, which may hold a password.
func (s service) problem() string {
	if s.timeout < 0 {
		return fmt.Sprintf("Timeout is %v: want 0, for the default, or more", s.timeout)
	}
	u, err := url.Parse(s.url())
	switch {
	case err != nil:
		return "BaseURL is not a URL: want one such as " + openAIURL
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "BaseURL is not an absolute http or https URL: want one such as " + openAIURL
	case u.User != nil:
		return "BaseURL has a user name: want the key in APIKey, or a Transport that adds what the server wants"
	case u.RawQuery != "" || u.Fragment != "":
		return "BaseURL has a query or a fragment: want what comes before it"
	}
	for _, path := range []string{"/embeddings", "/chat/completions"} {
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), path) {
			return fmt.Sprintf("BaseURL ends with %s, which is appended to it: leave it out", path)
		}
	}
	switch {
	case s.apiVersion == "" && s.deployment != "":
		return "Deployment is set without APIVersion: both are Azure's"
	case s.apiVersion == "":
		return ""
	case s.baseURL == "":
		return "APIVersion is set without BaseURL: want that of the Azure resource, such as https://NAME.openai.azure.com"
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/openai"):
		return "BaseURL ends with /openai, which is appended to it with APIVersion: leave it out"
	}
	if i := strings.IndexFunc(s.deploymentName(), func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
	}); i >= 0 {
		return fmt.Sprintf("Deployment is %q: want letters, digits, '-', '_' and '.'", s.deploymentName())
	}
	return ""
}

func (s service) deploymentName() string { return cmp.Or(s.deployment, s.model) }

// key returns the key, "" if there is none and none is needed.
func (s service) key() (string, error) {
	variables := []string{"OPENAI_API_KEY"}
	if s.isAzure() {
		variables = []string{"AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"}
	}
	key, from := strings.TrimSpace(s.apiKey), "APIKey"
	for _, v := range variables {
		if key == "" {
			key, from = strings.TrimSpace(os.Getenv(v)), v
		}
	}
	if key == "" && (s.isOpenAI() || s.isAzure()) {
		return "", fmt.Errorf("there is no API key: set %s, or the field APIKey", strings.Join(variables, " or "))
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || r == 0x7F }) {
		return "", fmt.Errorf("the API key in %s has a character that no key has, such as a space or a line end within it", from)
	}
	return key, nil
}

// client returns the SDK's client for one call.
func (s service) client(x exchange) (*sdk.Client, error) {
	key, err := s.key()
	if err != nil {
		return nil, err
	}
	config := sdk.DefaultConfig(key)
	if s.apiVersion != "" {
		config = sdk.DefaultAzureConfig(key, s.baseURL)
		config.APIVersion = s.apiVersion
		config.AzureModelMapperFunc = func(string) string { return s.deploymentName() }
	}
	config.BaseURL = s.url()
	transport := &retryhttp.Transport{
		Base:           s.transport,
		AttemptTimeout: s.timeout,
		FirstWait:      firstWait,
		Secrets:        []string{key},
		Final:          isQuota,
	}
	x.client = transport.Client()
	config.HTTPClient = x
	return sdk.NewClientWithConfig(config), nil
}

// isQuota reports whether OpenAI says that the account has no money left, for
// which it uses the status of too many requests.
func isQuota(status int, body []byte) bool {
	return status == http.StatusTooManyRequests && bytes.Contains(body, []byte(`"insufficient_quota"`))
}

// exchange is the SDK's HTTP client, between which and the SDK requests can be
// changed and answers checked.
type exchange struct {
	client  *http.Client
	request func(body []byte) []byte // nil: requests are sent as they are
	answer  func(body []byte) error  // nil: answers are not checked
}

// Do sends a request.
func (x exchange) Do(req *http.Request) (*http.Response, error) {
	if x.request != nil {
		data, err := io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		data = x.request(data)
		req.Body = io.NopCloser(bytes.NewReader(data))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
		req.ContentLength = int64(len(data))
	}
	resp, err := x.client.Do(req)
	if err != nil || x.answer == nil {
		return resp, err
	}
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if err := x.answer(data); err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, nil
}
