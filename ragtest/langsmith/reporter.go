package langsmith

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rageval/rageval/ragtest"
)

// Reporter is a [ragtest.Reporter] that records each result as an experiment in
// LangSmith: see the package documentation for what is recorded, and for what it does
// when that fails. The zero value records on the default dataset of the result's
// level; results of document level need a Dataset. It may be used by several tests at
// once.
type Reporter struct {
	Dataset string // whose examples the queries are; "": TokenDataset or ChunkDataset, an error at document level

	// DatasetVersion is the version that the queries were loaded from, as
	// [Dataset.Version]; "": the latest. The experiment notes it, and it is tagged
	// with the git commit.
	DatasetVersion string

	Experiment string            // name, to which ":" and 8 hexadecimal digits are added; "": the result's
	Baseline   string            // full name of an experiment that ExperimentURL compares with; "": none
	Metadata   map[string]string // of the experiment, beside what is always noted, which wins

	// Required makes the test fail if the experiment could not be recorded, or not in
	// full.
	Required bool

	// Timeout bounds what recording one result may take; 0: 2 minutes. The test's
	// deadline does, too.
	Timeout time.Duration

	// Spool is the directory that keeps what could not be sent; "": the environment
	// variable RAGTEST_LANGSMITH_SPOOL, else rageval/langsmith in the user's cache
	// directory.
	Spool string

	Connection Connection
}

const defaultTimeout = 2 * time.Minute

// requiredError fails the test: see [ragtest.Reporter].
type requiredError struct{ error }

func (e requiredError) Required() bool { return true }
func (e requiredError) Unwrap() error  { return e.error }

// String returns the name of the reporter in logs.
func (r Reporter) String() string { return "langsmith" }

// Report records the result as an experiment, and sets its ExperimentURL. It returns
// when everything is sent, or spooled, or cannot be.
func (r Reporter) Report(ctx context.Context, result *ragtest.Result) error {
	flushed, err := r.report(ctx, result)
	if err != nil {
		err = fmt.Errorf("recording the experiment in LangSmith: %w", err)
		if r.Required {
			err = requiredError{err}
		}
	}
	if flushed != nil {
		err = errors.Join(err, fmt.Errorf("flushing LangSmith's spool: %w", flushed))
	}
	return err
}

// report returns the error of sending what was kept and that of recording the result.
func (r Reporter) report(ctx context.Context, result *ragtest.Result) (flushed, err error) {
	on, err := enabled("LANGSMITH_TEST_TRACKING", true)
	if err != nil || !on {
		return nil, err
	}
	if err := r.check(result); err != nil {
		return nil, err
	}
	c, err := r.Connection.client()
	if err != nil {
		return nil, err
	}
	flush, err := enabled("RAGTEST_LANGSMITH_FLUSH", false)
	if err != nil {
		return nil, err
	}
	timeout := cmp.Or(r.Timeout, defaultTimeout)
	sending, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: it took longer than %v", context.DeadlineExceeded, timeout))
	defer cancel()
	if flush {
		flushed = r.flush(sending, c)
	}
	x := r.newExperiment(ctx, result)
	url, err := c.send(sending, x, result)
	if url != "" {
		result.ExperimentURL = url
	}
	if err != nil && sending.Err() != nil {
		err = fmt.Errorf("%w (%w)", err, context.Cause(sending))
	}
	if err == nil || !passes(err) {
		return flushed, err
	}
	file, errSpool := r.spool(c, x, result)
	if errSpool != nil {
		return flushed, fmt.Errorf("%w; keeping it for later: %w", err, errSpool)
	}
	return flushed, fmt.Errorf("%w; it is kept in %s, which langsmith.Flush sends", err, file)
}

// passes reports whether what failed may be sent another time: it may not if LangSmith
// refused the request itself, or an experiment was recorded but for something.
func passes(err error) bool {
	var incomplete incompleteError
	switch s := statusOf(err); {
	case errors.Is(err, errNoDataset), errors.Is(err, errNoVersion), errors.As(err, &incomplete):
		return false
	case s == http.StatusUnauthorized, s == http.StatusForbidden, s == http.StatusRequestTimeout, s == http.StatusTooManyRequests:
		return true
	default:
		return s < 400 || s >= 500
	}
}

// incompleteError says what an experiment that was recorded lacks.
type incompleteError struct{ error }

func (e incompleteError) Unwrap() error { return e.error }

// send records the experiment, and returns the address where it can be seen. A call
// that was interrupted can be made again: what exists already is not made twice.
func (c *client) send(ctx context.Context, x *experiment, result *ragtest.Result) (url string, err error) {
	at, err := c.find(ctx, x.Dataset)
	if err != nil {
		return "", fmt.Errorf("dataset %q: %w", x.Dataset, err)
	}
	asOf, err := c.version(ctx, at, x.Version)
	if err != nil {
		return "", fmt.Errorf("dataset %q: %w", x.Dataset, err)
	}
	known := newIndex(at.id)
	for e, err := range c.examples(ctx, at.id, asOf) {
		if err != nil {
			return "", fmt.Errorf("dataset %q: %w", x.Dataset, err)
		}
		known.add(e)
	}
	tenant, err := c.begin(ctx, x, at.id, asOf, len(repetitions(result)))
	if err != nil {
		return "", err
	}
	url = c.compareURL(tenant, at.id, x.ID)
	if err := c.ingest(ctx, x, result, known); err != nil {
		return url, err
	}
	if err := c.summarize(ctx, x, result); err != nil {
		return url, err
	}
	if err := c.end(ctx, x); err != nil {
		return url, err
	}

	// The experiment is there. What follows can be had without.
	var bad []error
	if x.Commit != "" && asOf != "" {
		bad = append(bad, c.tag(ctx, at, asOf, x.Commit))
	}
	if x.Baseline != "" {
		baseline, err := c.findExperiment(ctx, x.Baseline, at.id)
		bad = append(bad, err)
		if err == nil {
			url = c.compareURL(tenant, at.id, x.ID, baseline)
		}
	}
	bad = append(bad, unknownQueries(result, known))
	if err := errors.Join(bad...); err != nil {
		return url, incompleteError{fmt.Errorf("experiment %s: %w", x.Name, err)}
	}
	return url, nil
}

// unknownQueries returns an error that names the queries that have no example.
func unknownQueries(result *ragtest.Result, known *index) error {
	var unknown []string
	for _, q := range result.Queries {
		_, ok, err := known.find(q.ID, q.Metadata["exampleId"])
		if err != nil {
			return err
		}
		if !ok {
			unknown = append(unknown, string(q.ID))
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	const most = 5
	names := strings.Join(unknown[:min(len(unknown), most)], ", ")
	if len(unknown) > most {
		names += ", …"
	}
	return fmt.Errorf("%d of %d queries have no example in the dataset, so they cannot be compared: %s", len(unknown), len(result.Queries), names)
}
