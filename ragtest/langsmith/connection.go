package langsmith

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	sdk "github.com/langchain-ai/langsmith-go"
	"github.com/langchain-ai/langsmith-go/option"

	"github.com/rageval/rageval/internal/retryhttp"
)

// Connection says where LangSmith is, and for whom it is asked. The zero value takes
// everything from the environment, each time that it is used: see the package
// documentation.
type Connection struct {
	APIKey    string            // "": LANGSMITH_API_KEY, else LANGCHAIN_API_KEY
	Endpoint  string            // "": LANGSMITH_ENDPOINT, else LANGCHAIN_ENDPOINT, else https://api.smith.langchain.com
	Workspace string            // a UUID, for keys of several workspaces; "": LANGSMITH_WORKSPACE_ID, else LANGSMITH_TENANT_ID
	Transport http.RoundTripper // sends the requests, which are repeated above it; nil: http.DefaultTransport
}

const defaultEndpoint = "https://api.smith.langchain.com"

// Limits of a request, which leave room for the minute in which the service counts
// requests. Tests shorten the wait.
const (
	attemptTimeout = 20 * time.Second
	maxElapsed     = 100 * time.Second
)

var firstWait = time.Second

// errNoKey is why nothing is sent without an API key.
var errNoKey = errors.New("there is no API key: set LANGSMITH_API_KEY")

// client is a connection that is settled.
type client struct {
	*sdk.Client
	endpoint  string // without the prefix
	prefix    string // "", "api/" or "api/v1/": what runs are sent below
	workspace string // "": that of the key
}

// environment returns the first of the variables that is set to more than white space.
func environment(variables ...string) string {
	for _, name := range variables {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			return v
		}
	}
	return ""
}

// enabled returns what a variable says, which is set to a truth value or to nothing.
func enabled(variable string, otherwise bool) (bool, error) {
	v := environment(variable)
	if v == "" {
		return otherwise, nil
	}
	on, err := strconv.ParseBool(v)
	if err != nil {
		return otherwise, fmt.Errorf("the environment variable %s is %q: want true or false", variable, v)
	}
	return on, nil
}

// client returns the SDK's client for this connection. It is made of the SDK's
// services because its constructor reads the environment itself, and otherwise.
func (c Connection) client() (*client, error) {
	key := cmp.Or(strings.TrimSpace(c.APIKey), environment("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"))
	if key == "" {
		return nil, errNoKey
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New("the API key has a character that no key has, such as a space or a line end within it")
	}
	endpoint, prefix, err := c.endpoint()
	if err != nil {
		return nil, err
	}
	workspace := cmp.Or(c.Workspace, environment("LANGSMITH_WORKSPACE_ID", "LANGSMITH_TENANT_ID"))
	transport := &retryhttp.Transport{
		Base:           acknowledged{cmp.Or(c.Transport, http.DefaultTransport)},
		AttemptTimeout: attemptTimeout,
		MaxElapsed:     maxElapsed,
		FirstWait:      firstWait,
		Secrets:        []string{key},
		Final:          isUsedUp,
	}
	options := []option.RequestOption{
		option.WithBaseURL(endpoint + "/"),
		option.WithAPIKey(key),
		option.WithHTTPClient(transport.Client()),
		option.WithMaxRetries(0), // The transport does, and heeds the context.
	}
	if workspace != "" {
		options = append(options, option.WithTenantID(workspace))
	}
	return &client{
		Client: &sdk.Client{
			Options:  options,
			Datasets: sdk.NewDatasetService(options...),
			Examples: sdk.NewExampleService(options...),
			Sessions: sdk.NewSessionService(options...),
			Feedback: sdk.NewFeedbackService(options...),
		},
		endpoint:  endpoint,
		prefix:    prefix,
		workspace: workspace,
	}, nil
}

// endpoint returns the base of the paths that the SDK appends, which begin with
// api/v1, and what was cut off for that. Runs are sent to a path without it, below the
// address as it is configured, as the other SDKs do: the service of LangChain has them
// at its root, other installations below /api.
func (c Connection) endpoint() (base, prefix string, err error) {
	text, from := c.Endpoint, "Endpoint"
	if text == "" {
		text, from = environment("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"), "LANGSMITH_ENDPOINT"
	}
	if text == "" {
		return defaultEndpoint, "", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		// The text may hold a password.
		return "", "", fmt.Errorf("%s is not a URL such as %s, without user, query and fragment", from, defaultEndpoint)
	}
	path := strings.TrimRight(u.Path, "/")
	for _, suffix := range []string{"/api/v1", "/api"} {
		if cut, ok := strings.CutSuffix(path, suffix); ok {
			path, prefix = cut, suffix[1:]+"/"
			break
		}
	}
	return u.Scheme + "://" + u.Host + path, prefix, nil
}

// isUsedUp reports whether LangSmith says that what a plan allows in an hour or a
// month is used up, for which it uses the status of too many requests.
func isUsedUp(status int, body []byte) bool {
	return status == http.StatusTooManyRequests && bytes.Contains(body, []byte("usage limit exceeded"))
}

// acknowledged answers with an empty object where the server answers with success and
// no body: for requests whose answer says nothing else. An answer that is cut short
// still is one.
type acknowledged struct{ base http.RoundTripper }

func (t acknowledged) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err == nil && r.Method != http.MethodGet && resp.StatusCode/100 == 2 && resp.ContentLength == 0 {
		resp.Body.Close()
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader("{}")), 2
	}
	return resp, err
}

// statusOf returns the HTTP status with which a request was refused, 0 for another
// error.
func statusOf(err error) int {
	var e *retryhttp.Error
	if errors.As(err, &e) {
		return e.Status
	}
	return 0
}

// web returns the address of the web site that shows what is at the endpoint.
func (c *client) web() string {
	u, err := url.Parse(c.endpoint)
	if err != nil {
		return c.endpoint
	}
	labels := strings.Split(u.Host, ".")
	for i, label := range labels {
		if label == "api" && i < len(labels)-1 {
			u.Host = strings.Join(append(labels[:i:i], labels[i+1:]...), ".")
			break
		}
	}
	return u.String()
}

// compareURL returns the address of the view that compares experiments on a dataset.
func (c *client) compareURL(tenant, dataset string, experiments ...string) string {
	return fmt.Sprintf("%s/o/%s/datasets/%s/compare?selectedSessions=%s", c.web(), tenant, dataset, strings.Join(experiments, "%2C"))
}
