package langsmith

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	sdk "github.com/langchain-ai/langsmith-go"
	"github.com/langchain-ai/langsmith-go/shared"

	"github.com/rageval/rageval/internal/retryhttp"
	"github.com/rageval/rageval/ragtest"
)

// passKey is the key of the feedback that says whether all thresholds held.
const passKey = "pass"

// experiment is what is recorded beside the result. Everything that is sent follows
// from the two, so that sending it again sends the same.
type experiment struct {
	ID       string            `json:"id"`
	Name     string            `json:"name"`
	Dataset  string            `json:"dataset"`
	Version  string            `json:"version,omitempty"`
	Baseline string            `json:"baseline,omitempty"`
	Start    time.Time         `json:"start"`
	End      time.Time         `json:"end"`
	Commit   string            `json:"commit,omitempty"`
	Metadata map[string]string `json:"metadata"`
	Traces   []ragtest.Trace   `json:"traces"` // of the repetitions
}

// Tests make both of these the same in every run.
var (
	newUUID = uuid.NewString
	now     = time.Now
)

func (r Reporter) newExperiment(ctx context.Context, result *ragtest.Result) *experiment {
	l := tokenLevel
	if result.Level == "chunk" {
		l = chunkLevel
	}
	end := now()
	id := newUUID()
	work := workingTree(ctx)
	x := &experiment{
		ID:       id,
		Name:     cmp.Or(r.Experiment, result.Name, "rageval") + ":" + id[:8],
		Dataset:  cmp.Or(r.Dataset, l.dataset),
		Version:  r.DatasetVersion,
		Baseline: r.Baseline,
		Start:    end.Add(-result.Elapsed),
		End:      end,
		Commit:   work.commit,
		Metadata: describe(ctx, r.Metadata, result, work),
		Traces:   []ragtest.Trace{result.Trace},
	}
	if len(result.Repetitions) > 0 {
		x.Traces = nil
		for _, r := range result.Repetitions {
			x.Traces = append(x.Traces, r.Trace)
		}
	}
	return x
}

// repetitions returns the queries of each repetition.
func repetitions(result *ragtest.Result) [][]ragtest.QueryResult {
	if len(result.Repetitions) == 0 {
		return [][]ragtest.QueryResult{result.Queries}
	}
	all := make([][]ragtest.QueryResult, len(result.Repetitions))
	for i, r := range result.Repetitions {
		all[i] = r.Queries
	}
	return all
}

// uuid returns the ID of something in the experiment that has no other ID, the same
// each time: sent twice, it is still one.
func (x *experiment) uuid(kind, of string) string {
	return uuid.NewSHA1(uuid.MustParse(x.ID), []byte(kind+"/"+of)).String()
}

// maxKey is how many characters the key of a feedback has at most.
const maxKey = 180

// check returns an error for a result that cannot be recorded.
func (r Reporter) check(result *ragtest.Result) error {
	if result.Level == "document" && r.Dataset == "" {
		return errors.New("field Dataset is empty, and there is no default dataset of document-level ground truth")
	}
	for _, s := range result.Metrics {
		if n := utf8.RuneCountInString(s.Metric); n > maxKey {
			return fmt.Errorf("the name of the metric %s has %d characters, want at most %d", s.Metric, n, maxKey)
		}
		if s.Metric == passKey && len(result.Thresholds) > 0 {
			return fmt.Errorf("a metric is named %s, as is the feedback on the thresholds", passKey)
		}
	}
	return checkNumbers(result)
}

// checkNumbers returns an error for a score that JSON has no number for: the SDK would
// send "NaN". Evaluations have none; results may come from elsewhere.
func checkNumbers(result *ragtest.Result) error {
	check := func(of string, scores []ragtest.Score) error {
		for _, s := range scores {
			if math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
				return fmt.Errorf("%s: the score by %s is %v, want a number", of, s.Metric, s.Value)
			}
		}
		return nil
	}
	if err := check("the result", result.Metrics); err != nil {
		return err
	}
	for _, t := range result.Thresholds {
		if err := check("a threshold", []ragtest.Score{{Metric: t.Metric, Value: t.Got}, {Metric: t.Metric, Value: t.Bound}}); err != nil {
			return err
		}
	}
	for _, queries := range repetitions(result) {
		for _, q := range queries {
			if err := check(fmt.Sprintf("query %s", q.ID), q.Scores); err != nil {
				return err
			}
			for _, h := range q.Hits {
				if math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
					return fmt.Errorf("query %s: the score at rank %d is %v, want a number", q.ID, h.Rank, h.Score)
				}
			}
		}
	}
	return nil
}

// begin creates the experiment, unless it exists, and returns its workspace.
func (c *client) begin(ctx context.Context, x *experiment, dataset, asOf string, times int) (tenant string, err error) {
	metadata := make(map[string]any, len(x.Metadata)+2)
	for key, value := range x.Metadata {
		metadata[key] = value
	}
	// As the other SDKs name these.
	metadata["num_repetitions"] = times
	if asOf != "" {
		metadata["dataset_version"] = asOf
	}
	session, err := c.Sessions.New(ctx, sdk.SessionNewParams{
		ID:                 sdk.F(x.ID),
		Name:               sdk.F(x.Name),
		ReferenceDatasetID: sdk.F(dataset),
		StartTime:          sdk.F(x.Start.UTC()),
		Extra:              sdk.Raw[map[string]any](map[string]any{"metadata": metadata}),
	})
	if statusOf(err) == http.StatusConflict {
		// An earlier request was lost on its way back, or one of this name is
		// somebody else's.
		known, errGet := c.Sessions.Get(ctx, x.ID, sdk.SessionGetParams{})
		if errGet == nil {
			return known.TenantID, nil
		}
		if statusOf(errGet) != http.StatusNotFound {
			err = errGet
		}
	}
	if err != nil {
		return "", fmt.Errorf("creating experiment %s: %w", x.Name, retryhttp.Cause(err))
	}
	return session.TenantID, nil
}

func (c *client) end(ctx context.Context, x *experiment) error {
	if _, err := c.Sessions.Update(ctx, x.ID, sdk.SessionUpdateParams{EndTime: sdk.F(x.End.UTC())}); err != nil {
		return fmt.Errorf("ending experiment %s: %w", x.Name, retryhttp.Cause(err))
	}
	return nil
}

// findExperiment returns the ID of the experiment of a name on a dataset.
func (c *client) findExperiment(ctx context.Context, name, dataset string) (string, error) {
	pages := c.Sessions.ListAutoPaging(ctx, sdk.SessionListParams{
		Name:             sdk.F(name),
		ReferenceDataset: sdk.F([]string{dataset}),
		Limit:            sdk.F[int64](pageSize),
	})
	for pages.Next() {
		if s := pages.Current(); s.Name == name {
			return s.ID, nil
		}
	}
	err := pages.Err()
	if err == nil {
		err = errors.New("there is no such experiment on the dataset")
	}
	return "", fmt.Errorf("looking up the experiment %q: %w", name, retryhttp.Cause(err))
}

// summarize sends the feedback on the experiment as a whole.
func (c *client) summarize(ctx context.Context, x *experiment, result *ragtest.Result) error {
	for _, s := range result.Metrics {
		if err := c.summary(ctx, x, s.Metric, s.Value, summaryComment(result, s.Metric)); err != nil {
			return err
		}
	}
	if len(result.Thresholds) == 0 {
		return nil
	}
	pass := 1.0
	var verdicts []string
	for _, t := range result.Thresholds {
		verdict := "holds"
		if !t.Pass {
			pass, verdict = 0, "does not hold"
		}
		got := fmt.Sprintf("%s %s %s: got %v", t.Metric, t.Want, verdict, t.Got)
		if t.Bound != 0 {
			got += fmt.Sprintf(", with the confidence bound %v", t.Bound)
		}
		verdicts = append(verdicts, got)
	}
	return c.summary(ctx, x, passKey, pass, strings.Join(verdicts, "\n"))
}

// summaryComment says what a mean is of, and how far it may be trusted.
func summaryComment(result *ragtest.Result, metric string) string {
	comment := fmt.Sprintf("mean over %d queries", len(result.Queries))
	for _, i := range result.Intervals {
		if i.Metric == metric {
			comment += fmt.Sprintf("; 95 %% interval %.4f to %.4f", i.Low, i.High)
		}
	}
	for _, s := range result.Spreads {
		if s.Metric == metric {
			comment += fmt.Sprintf("; between %d repetitions from %.4f to %.4f, deviation %.4f", len(result.Repetitions), s.Low, s.High, s.Deviation)
		}
	}
	return comment
}

func (c *client) summary(ctx context.Context, x *experiment, key string, score float64, comment string) error {
	_, err := c.Feedback.New(ctx, sdk.FeedbackNewParams{FeedbackCreateSchema: sdk.FeedbackCreateSchemaParam{
		ID:             sdk.F(x.uuid("summary", key)),
		Key:            sdk.F(key),
		SessionID:      sdk.F(x.ID),
		Score:          sdk.F[sdk.FeedbackCreateSchemaScoreUnionParam](shared.UnionFloat(score)),
		Comment:        sdk.F(comment),
		FeedbackSource: sdk.F[sdk.FeedbackCreateSchemaFeedbackSourceUnionParam](sdk.FeedbackCreateSchemaFeedbackSourceParam{Type: sdk.F(sdk.FeedbackCreateSchemaFeedbackSourceTypeAPI)}),
	}})
	if err != nil && statusOf(err) != http.StatusConflict { // A conflict says that it is there.
		return fmt.Errorf("sending the feedback %s on experiment %s: %w", key, x.Name, retryhttp.Cause(err))
	}
	return nil
}
