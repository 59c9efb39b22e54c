package chroma

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rageval/rageval/internal/retryhttp"
)

// Config says where the server is and how the collection is made. The zero value
// is ready for use: it means the server that Chroma's own environment variables
// name, else the one that "chroma run" starts.
type Config struct {
	Endpoint string // URL of the server, with or without /api/v2; "": CHROMA_ENDPOINT, else http://localhost:8000
	Tenant   string // "": CHROMA_TENANT, else default_tenant
	Database string // "": CHROMA_DATABASE, else default_database

	// APIKey is sent in the header x-chroma-token; "": CHROMA_API_KEY, else
	// none is sent. Header holds further headers to send, such as the
	// Authorization of a proxy. Neither is sent anywhere but to Endpoint:
	// redirects are not followed.
	APIKey string
	Header http.Header

	Prefix string // the name of the collection begins with it; "": "ragtest"
	HNSW   HNSW
	Keep   bool // Close does not delete the collection

	Timeout   time.Duration     // of one request, repetitions included; 0: 5 minutes
	Transport http.RoundTripper // nil: http.DefaultTransport
}

// HNSW holds the settings of the graph that is searched. A zero field is left to
// the server; the values in the comments are those of Chroma 1.0.
type HNSW struct {
	EFConstruction int // candidates while the graph is built; 0: 100
	EFSearch       int // candidates of a search, which takes k if that is more; 0: 100
	MaxNeighbors   int // edges of a vector; 0: 16
}

const (
	defaultEndpoint = "http://localhost:8000"
	defaultTenant   = "default_tenant"
	defaultDatabase = "default_database"
	defaultPrefix   = "ragtest"
	defaultTimeout  = 5 * time.Minute
	closeTimeout    = 30 * time.Second

	keyHeader = "X-Chroma-Token"
)

// settled returns the configuration with everything that was left open.
func (c Config) settled() Config {
	for _, s := range []struct {
		field              *string
		variable, fallback string
	}{
		{&c.Endpoint, "CHROMA_ENDPOINT", defaultEndpoint},
		{&c.Tenant, "CHROMA_TENANT", defaultTenant},
		{&c.Database, "CHROMA_DATABASE", defaultDatabase},
		{&c.APIKey, "CHROMA_API_KEY", ""},
	} {
		if *s.field == "" {
			*s.field = os.Getenv(s.variable)
		}
		if *s.field == "" {
			*s.field = s.fallback
		}
	}
	if c.Prefix == "" {
		c.Prefix = defaultPrefix
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	return c
}

// Chroma's rule for names of collections, but for the end: that is ours.
var validPrefix = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9._-]{0,255}$`)

// validate checks a configuration that is settled.
func (c Config) validate() error {
	u, err := url.Parse(c.Endpoint)
	switch {
	case err != nil:
		// What url.Parse says could show a password.
		return errors.New("field Endpoint (or CHROMA_ENDPOINT): not a URL: want one such as " + defaultEndpoint)
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.RawQuery != "", u.Fragment != "":
		return fmt.Errorf("field Endpoint (or CHROMA_ENDPOINT): got %q, want a URL such as %s", u.Redacted(), defaultEndpoint)
	}
	if !validPrefix.MatchString(c.Prefix) {
		return fmt.Errorf("field Prefix: got %q, want up to 256 of a-z, A-Z, 0-9, '.', '_' and '-', a letter or digit first", c.Prefix)
	}
	for _, s := range c.HNSW.settings() {
		if s.value < 0 {
			return fmt.Errorf("field HNSW: %s is %d, want 0 or more", s.name, s.value)
		}
	}
	if c.Timeout < 0 {
		return fmt.Errorf("field Timeout: got %v, want 0 or more", c.Timeout)
	}
	return nil
}

type setting struct {
	name  string // in Chroma's API
	value int
}

func (h HNSW) settings() []setting {
	return []setting{
		{"ef_construction", h.EFConstruction},
		{"ef_search", h.EFSearch},
		{"max_neighbors", h.MaxNeighbors},
	}
}

// describe returns "chroma" and the settings that differ from zero, such as
// "chroma/ef_search=400".
func (h HNSW) describe() string {
	var b strings.Builder
	b.WriteString("chroma")
	for _, s := range h.settings() {
		if s.value != 0 {
			fmt.Fprintf(&b, "/%s=%d", s.name, s.value)
		}
	}
	return b.String()
}

// client returns the client of a configuration that is valid.
func (c Config) client() *client {
	header := c.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if c.APIKey != "" {
		header.Set(keyHeader, c.APIKey)
	}
	header.Set("Content-Type", "application/json")
	transport := &retryhttp.Transport{
		Base:           c.Transport,
		MaxAttempts:    4,
		FirstWait:      200 * time.Millisecond,
		LongestWait:    5 * time.Second,
		AttemptTimeout: c.Timeout,
		MaxElapsed:     c.Timeout,
		Secrets:        c.secrets(),
	}
	api := strings.TrimSuffix(strings.TrimRight(c.Endpoint, "/"), "/api/v2") + "/api/v2"
	return &client{
		http:   transport.Client(),
		header: header,
		api:    api,
		collections: api + "/tenants/" + url.PathEscape(c.Tenant) +
			"/databases/" + url.PathEscape(c.Database) + "/collections",
	}
}

// secrets returns what no error may show, even if the server repeats it.
func (c Config) secrets() []string {
	all := []string{c.APIKey}
	for _, values := range c.Header {
		for _, v := range values {
			all = append(all, v)
			if _, credentials, ok := strings.Cut(v, " "); ok { // Bearer …
				all = append(all, credentials)
			}
		}
	}
	if u, err := url.Parse(c.Endpoint); err == nil && u.User != nil {
		password, _ := u.User.Password()
		basic := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		all = append(all, password, basic)
	}
	// A value such as "1" is no secret, but part of many an error.
	const shortest = 6
	return slices.DeleteFunc(all, func(s string) bool { return len(s) < shortest })
}
