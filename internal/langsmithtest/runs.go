package langsmithtest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Run is what a server holds of a run.
type Run struct {
	ID, Name, Type, Trace, Parent, Example, SessionID string
	Start, End                                        time.Time
	Inputs, Outputs, Extra                            string // JSON as it was sent, "" for none
}

// RunIngest of the OpenAPI document: what a part post.ID holds.
type runCreate struct {
	ID                id       `json:"id" required:"true"`
	DottedOrder       string   `json:"dotted_order" required:"true"`
	EndTime           *instant `json:"end_time"`
	Error             *string  `json:"error"`
	Events            []object `json:"events"`
	Extra             object   `json:"extra"`
	InputAttachments  object   `json:"input_attachments"`
	Inputs            object   `json:"inputs"`
	Name              string   `json:"name" required:"true"`
	OutputAttachments object   `json:"output_attachments"`
	Outputs           object   `json:"outputs"`
	Parent            *id      `json:"parent_run_id"`
	Example           *id      `json:"reference_example_id"`
	Type              string   `json:"run_type" required:"true"`
	Serialized        object   `json:"serialized"`
	SessionID         *id      `json:"session_id"`
	SessionName       *string  `json:"session_name"`
	StartTime         *instant `json:"start_time" required:"true"`
	Status            *string  `json:"status"`
	Tags              []string `json:"tags"`
	Trace             id       `json:"trace_id" required:"true"`
}

// part is a part of a multipart request.
type part struct {
	name []string // split at "."
	data []byte
}

func (s *Server) ingest(r request) (any, error) {
	parts, err := readParts(r.body, r.contentType)
	if err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{} // inputs and outputs, by "ID.field"
	var runs, feedback []part
	seen := map[string]bool{}
	for _, p := range parts {
		whole := strings.Join(p.name, ".")
		if seen[whole] {
			return nil, invalid("two parts are named %s", whole)
		}
		seen[whole] = true
		switch {
		case p.name[0] == "post" && len(p.name) == 2:
			runs = append(runs, p)
		case p.name[0] == "post" && len(p.name) == 3 && slices.Contains([]string{"inputs", "outputs", "events", "error", "extra", "serialized"}, p.name[2]):
			if !seen["post."+p.name[1]] {
				return nil, invalid("the part %s comes before its run", whole)
			}
			var o object
			if err := strictly(p.data, &o); err != nil {
				return nil, err
			}
			fields[p.name[1]+"."+p.name[2]] = p.data
		case p.name[0] == "feedback" && len(p.name) == 2:
			feedback = append(feedback, p)
		default:
			return nil, invalid("the part %s is not of the pattern <event>.<run_id>[.<field>]", whole)
		}
	}
	if len(runs) > maxRuns {
		return nil, refuse(http.StatusRequestEntityTooLarge, "%d runs, want at most %d", len(runs), maxRuns)
	}
	conflict := false
	for _, p := range runs {
		again, err := s.addRun(p, fields)
		if err != nil {
			return nil, invalid("run %s: %v", p.name[1], err)
		}
		conflict = conflict || again
	}
	for _, p := range feedback {
		var c feedbackCreate
		if err := decode(p.data, &c); err != nil {
			return nil, invalid("feedback %s: %v", p.name[1], err)
		}
		if c.ID == nil || string(*c.ID) != p.name[1] || c.Trace == nil {
			return nil, invalid("feedback %s: want its id, and a trace_id", p.name[1])
		}
		if _, err := s.addFeedback(c, p.data); err != nil {
			return nil, invalid("feedback %s: %v", p.name[1], err)
		}
	}
	if conflict && s.Conflict {
		return nil, refuse(http.StatusConflict, "payloads already received")
	}
	return map[string]string{"message": "Runs batch ingested"}, nil
}

func readParts(body []byte, contentType string) ([]part, error) {
	_, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil, invalid("the content type: %v", err)
	}
	reader := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	var parts []part
	for {
		p, err := reader.NextRawPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, invalid("part %d: %v", len(parts), err)
		}
		data, err := io.ReadAll(p)
		if err != nil {
			return nil, invalid("part %d: %v", len(parts), err)
		}
		media, params, err := mime.ParseMediaType(p.Header.Get("Content-Type"))
		length := p.Header.Get("Content-Length")
		if length == "" {
			length = params["length"]
		}
		switch {
		case err != nil || media != "application/json":
			return nil, invalid("part %s: the content type is %q", p.FormName(), p.Header.Get("Content-Type"))
		case p.Header.Get("Content-Encoding") != "":
			return nil, invalid("part %s has a Content-Encoding", p.FormName())
		case length != strconv.Itoa(len(data)):
			return nil, invalid("part %s: the length is %q, want %d", p.FormName(), length, len(data))
		}
		parts = append(parts, part{strings.Split(p.FormName(), "."), data})
	}
}

var orderSegment = regexp.MustCompile(`^(\d{8}T\d{12}Z)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$`)

func (s *Server) addRun(p part, fields map[string]json.RawMessage) (again bool, err error) {
	var c runCreate
	if err := decode(p.data, &c); err != nil {
		return false, err
	}
	run := &Run{ID: string(c.ID), Name: c.Name, Type: c.Type, Trace: string(c.Trace), Start: c.StartTime.Time, Extra: string(mustJSON(c.Extra))}
	if run.ID != p.name[1] {
		return false, invalid("the id is %s", run.ID)
	}
	if err := in("run_type", c.Type, "tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"); err != nil {
		return false, err
	}
	if c.SessionID == nil {
		return false, invalid("no session_id")
	}
	experiment, err := s.session(string(*c.SessionID))
	if err != nil {
		return false, invalid("%v", err)
	}
	run.SessionID = experiment.ID
	if c.EndTime != nil {
		if run.End = c.EndTime.Time; run.End.Before(run.Start) {
			return false, invalid("end_time %v is before start_time %v", run.End, run.Start)
		}
	}
	if c.Parent != nil {
		run.Parent = string(*c.Parent)
	}
	if err := checkOrder(c.DottedOrder, run); err != nil {
		return false, err
	}
	if c.Example != nil {
		run.Example = string(*c.Example)
		d, e := s.example(run.Example)
		switch {
		case run.Parent != "":
			return false, invalid("a run with a parent has a reference example")
		case e == nil || d.ID != experiment.Dataset:
			return false, invalid("the reference example %s is not in the dataset of the experiment", run.Example)
		}
	}
	run.Inputs, run.Outputs = string(fields[run.ID+".inputs"]), string(fields[run.ID+".outputs"])
	if run.Inputs == "" {
		return false, invalid("no inputs")
	}
	if again, err = s.keep(run.ID, slices.Concat(p.data, fields[run.ID+".inputs"], fields[run.ID+".outputs"])); err != nil {
		return again, err
	}
	s.runs[run.ID] = run
	return again, nil
}

// checkOrder checks that the dotted order is that of the run below its parent.
func checkOrder(order string, run *Run) error {
	segments := strings.Split(order, ".")
	ids := make([]string, len(segments))
	for i, segment := range segments {
		m := orderSegment.FindStringSubmatch(segment)
		if m == nil {
			return invalid("dotted_order %q: segment %d is not <time>Z<uuid>", order, i)
		}
		ids[i] = m[2]
		if i > 0 && segments[i-1][:22] > segment[:22] {
			return invalid("dotted_order %q: a run starts before its parent", order)
		}
	}
	start := strings.Replace(run.Start.UTC().Format("20060102T150405.000000Z"), ".", "", 1)
	last := len(ids) - 1
	switch {
	case ids[last] != run.ID || ids[0] != run.Trace:
		return invalid("dotted_order %q: want it to begin with the trace %s and to end with the run %s", order, run.Trace, run.ID)
	case !strings.HasPrefix(segments[last], start):
		return invalid("dotted_order %q: want the start time %s", order, start)
	case last == 0 && run.Parent != "" || last > 0 && run.Parent != ids[last-1]:
		return invalid("dotted_order %q: want it to go through the parent %q", order, run.Parent)
	}
	return nil
}
