package langsmith

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strconv"

	"github.com/langchain-ai/langsmith-go/option"

	"github.com/rageval/rageval/internal/parallel"
	"github.com/rageval/rageval/internal/retryhttp"
	"github.com/rageval/rageval/ragtest"
)

// Limits of the requests that send runs. LangSmith takes 100 runs and 20 MiB.
const (
	batchRuns  = 100
	ingestSize = 8 << 20 // bytes, exceeded by one query at most
	senders    = 4       // requests at once
)

// ingest sends the runs of all queries with their feedback. At most senders·batchRuns
// runs are in memory as they are sent, however many queries there are.
func (c *client) ingest(ctx context.Context, x *experiment, result *ragtest.Result, known *index) error {
	for i, queries := range repetitions(result) {
		runs := &runMaker{experiment: x, result: result, repetition: i, known: known, timeline: newTimeline(x.Traces[i])}
		perBatch := batchRuns / runs.most()
		batches := (len(queries) + perBatch - 1) / perBatch
		err := parallel.Do(ctx, senders, batches, func(ctx context.Context, b int) error {
			return c.sendBatch(ctx, runs, queries, b*perBatch, min((b+1)*perBatch, len(queries)))
		})
		if err != nil {
			return fmt.Errorf("sending the runs of experiment %s: %w", x.Name, err)
		}
	}
	return nil
}

// sendBatch sends the runs of the queries in [first, end), in several requests if they
// are large.
func (c *client) sendBatch(ctx context.Context, runs *runMaker, queries []ragtest.QueryResult, first, end int) error {
	for first < end {
		parts := newParts(runs.experiment.uuid("batch", fmt.Sprintf("%d/%s", runs.repetition, queries[first].ID)))
		for first < end && parts.body.Len() < ingestSize {
			if err := runs.add(parts, first, &queries[first]); err != nil {
				return fmt.Errorf("query %s: %w", queries[first].ID, err)
			}
			first++
		}
		if err := c.post(ctx, parts); err != nil {
			return err
		}
	}
	return nil
}

// post sends parts. This version of the SDK has no method for it.
func (c *client) post(ctx context.Context, p *parts) error {
	if err := p.writer.Close(); err != nil {
		return err
	}
	var answer json.RawMessage
	err := c.Post(ctx, c.prefix+"runs/multipart", nil, &answer, option.WithRequestBody(p.writer.FormDataContentType(), p.body.Bytes()))
	if statusOf(err) == http.StatusConflict {
		return nil // It was received before.
	}
	if err != nil {
		return retryhttp.Cause(err)
	}
	return nil
}

// parts is the body of a request to /runs/multipart. A part is named after what it
// creates: post.ID, post.ID.inputs, feedback.ID, ….
type parts struct {
	body   bytes.Buffer
	writer *multipart.Writer
}

// newParts returns a body without parts. Its boundary is a UUID, which no part has.
func newParts(boundary string) *parts {
	p := &parts{}
	p.writer = multipart.NewWriter(&p.body)
	if err := p.writer.SetBoundary(boundary); err != nil {
		panic(err)
	}
	return p
}

func (p *parts) add(name string, value any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	data := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	w, err := p.writer.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="` + name + `"`},
		"Content-Type":        {"application/json"},
		"Content-Length":      {strconv.Itoa(len(data))},
	})
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}
