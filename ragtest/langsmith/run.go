package langsmith

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rageval/rageval/ragtest"
	"github.com/rageval/rageval/spans"
)

// run is a run as it is sent; its inputs and outputs are sent beside it.
type run struct {
	DottedOrder string   `json:"dotted_order"`
	EndTime     string   `json:"end_time"`
	Example     string   `json:"reference_example_id,omitempty"`
	Extra       runExtra `json:"extra"`
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Parent      string   `json:"parent_run_id,omitempty"`
	Session     string   `json:"session_id"`
	StartTime   string   `json:"start_time"`
	Status      string   `json:"status"`
	Trace       string   `json:"trace_id"`
	Type        string   `json:"run_type"`
}

type runExtra struct {
	Metadata map[string]string `json:"metadata,omitempty"`
}

type runInputs struct {
	Query string `json:"query"`
}

type rootOutputs struct {
	Retrieved []retrieved `json:"retrieved"`
}

// retrieved is a hit in the outputs of a query's run. Start and End are characters of
// the document, at token level only.
type retrieved struct {
	Rank    int              `json:"rank"`
	ChunkID string           `json:"chunkId"`
	Doc     spans.DocumentID `json:"docId,omitempty"`
	Start   *int             `json:"start,omitempty"`
	End     *int             `json:"end,omitempty"`
	Score   float64          `json:"score"`
	Text    string           `json:"text,omitempty"`
}

// stageOutputs is what LangSmith shows as documents, those of a retriever above all.
type stageOutputs struct {
	Documents []document `json:"documents"`
}

type document struct {
	Content  string    `json:"page_content"`
	Type     string    `json:"type"` // "Document"
	Metadata retrieved `json:"metadata"`
}

// feedback is feedback on a run as it is sent.
type feedback struct {
	Comment string         `json:"comment,omitempty"`
	ID      string         `json:"id"`
	Key     string         `json:"key"`
	Run     string         `json:"run_id"`
	Score   float64        `json:"score"`
	Session string         `json:"session_id"`
	Source  feedbackSource `json:"feedback_source"`
	Trace   string         `json:"trace_id"`
}

type feedbackSource struct {
	Type string `json:"type"`
}

// runMaker makes the runs of the queries of a repetition.
type runMaker struct {
	experiment *experiment
	result     *ragtest.Result
	repetition int // from 0
	known      *index
	timeline   *timeline
}

// stages are those that become child runs of a query's run.
var stages = []struct{ name, runType string }{{"retrieve", "retriever"}, {"rerank", "chain"}}

// most returns how many runs a query has at most.
func (m *runMaker) most() int { return 1 + len(stages) }

// add adds the runs of a query and the feedback on them: a run for the query, below it
// one for each stage of the pipeline that worked on it, and on the former feedback by
// each metric. The position is that of the query among all.
func (m *runMaker) add(p *parts, position int, q *ragtest.QueryResult) error {
	x := m.experiment
	at := fmt.Sprintf("%d/%s", m.repetition, q.ID)
	intervals := make([]*ragtest.Interval, len(stages))
	last := -1
	start, end := x.End, x.End
	for i, s := range stages {
		t := m.timeline.find(s.name, position)
		if t == nil {
			continue
		}
		if last < 0 {
			start, end = t.Start, t.Start
		}
		intervals[i], last, end = t, i, later(end, t.End)
	}
	root := m.run(x.uuid("run", at), cmp.Or(m.result.Name, "query"), "chain", start, end)
	root.Trace, root.DottedOrder = root.ID, root.DottedOrder+root.ID
	example, ok, err := m.known.find(q.ID, q.Metadata["exampleId"])
	if err != nil {
		return err
	}
	if ok {
		root.Example = example
	}
	root.Extra.Metadata = maps.Clone(q.Metadata)
	if root.Extra.Metadata == nil {
		root.Extra.Metadata = map[string]string{}
	}
	root.Extra.Metadata["queryId"] = string(q.ID)
	if len(x.Traces) > 1 {
		root.Extra.Metadata["repetition"] = strconv.Itoa(m.repetition + 1)
	}
	hits := make([]retrieved, len(q.Hits))
	documents := make([]document, len(q.Hits))
	for i, h := range q.Hits {
		hits[i] = retrieved{Rank: h.Rank, ChunkID: h.ChunkID, Doc: h.Doc, Score: h.Score, Text: h.Text}
		if h.Span != (spans.Span{}) {
			hits[i].Start, hits[i].End = &h.Span.Start, &h.Span.End
		}
		documents[i] = document{Content: h.Text, Type: "Document", Metadata: hits[i]}
		documents[i].Metadata.Text = ""
	}
	if err := m.addRun(p, root, runInputs{q.Text}, rootOutputs{hits}); err != nil {
		return err
	}
	for i, t := range intervals {
		if t == nil {
			continue
		}
		child := m.run(x.uuid("run/"+stages[i].name, at), stages[i].name, stages[i].runType, later(start, t.Start), t.End)
		child.Trace, child.Parent = root.ID, root.ID
		child.DottedOrder = root.DottedOrder + "." + child.DottedOrder + child.ID
		if t.Count > 1 {
			child.Extra.Metadata = map[string]string{"batch": fmt.Sprintf("times are those of a batch of %d queries", t.Count)}
		}
		var outputs any
		if i == last { // What an earlier stage returned is not in the result.
			outputs = stageOutputs{documents}
		}
		if err := m.addRun(p, child, runInputs{q.Text}, outputs); err != nil {
			return err
		}
	}
	for _, s := range q.Scores {
		f := feedback{
			ID: x.uuid("feedback/"+s.Metric, at), Key: s.Metric, Score: s.Value, Run: root.ID, Trace: root.ID,
			Session: x.ID, Source: feedbackSource{"api"},
		}
		if s.Value < 1 {
			f.Comment = missedComment(q.Missed)
		}
		if err := p.add("feedback."+f.ID, f); err != nil {
			return err
		}
	}
	return nil
}

func (m *runMaker) addRun(p *parts, r run, inputs, outputs any) error {
	if err := p.add("post."+r.ID, r); err != nil {
		return err
	}
	if err := p.add("post."+r.ID+".inputs", inputs); err != nil {
		return err
	}
	if outputs == nil {
		return nil
	}
	return p.add("post."+r.ID+".outputs", outputs)
}

// run returns a run whose dotted order still lacks its ID.
func (m *runMaker) run(id, name, runType string, start, end time.Time) run {
	const layout = "2006-01-02T15:04:05.000000Z"
	end = later(start, end).UTC()
	start = start.UTC()
	return run{
		ID: id, Name: name, Type: runType, Session: m.experiment.ID, Status: "success",
		StartTime: start.Format(layout), EndTime: end.Format(layout),
		DottedOrder: strings.Replace(start.Format("20060102T150405.000000Z"), ".", "", 1),
	}
}

// later returns the later time by the clock on the wall, which may be set back while
// something is measured: LangSmith refuses a run that ends before it starts, or that
// starts before its parent.
func later(a, b time.Time) time.Time {
	if b.Round(0).Before(a.Round(0)) {
		return a
	}
	return b
}

// missedComment says what was missed, and why.
func missedComment(missed []ragtest.Passage) string {
	const most = 5
	var lines []string
	for i, p := range missed {
		if i == most {
			lines = append(lines, fmt.Sprintf("and %d more", len(missed)-most))
			break
		}
		where := cmp.Or(p.ChunkID, string(p.Doc))
		if p.Span != (spans.Span{}) {
			where = p.Span.String()
		}
		line := "missed " + where
		if p.Text != "" {
			line += fmt.Sprintf(" %q", abbreviate(p.Text))
		}
		var why []string
		if p.Lost != "" {
			why = append(why, "lost by: "+p.Lost)
		}
		if p.Rank > 0 {
			why = append(why, fmt.Sprintf("best rank %d", p.Rank))
		}
		if len(why) > 0 {
			line += " (" + strings.Join(why, ", ") + ")"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// abbreviate returns the beginning of a text.
func abbreviate(text string) string {
	const most = 200 // characters
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most]) + "…"
}

// timeline finds when a stage worked on a query.
type timeline struct {
	stages map[string][]ragtest.Interval // in order of First
}

func newTimeline(t ragtest.Trace) *timeline {
	l := &timeline{stages: map[string][]ragtest.Interval{}}
	for _, i := range t.Intervals {
		l.stages[i.Stage] = append(l.stages[i.Stage], i)
	}
	for _, list := range l.stages {
		slices.SortStableFunc(list, func(a, b ragtest.Interval) int { return cmp.Compare(a.First, b.First) })
	}
	return l
}

// find returns the interval of a stage that holds the query at a position, nil if the
// stage did not work on it.
func (l *timeline) find(stage string, position int) *ragtest.Interval {
	list := l.stages[stage]
	i, ok := slices.BinarySearchFunc(list, position, func(i ragtest.Interval, position int) int { return cmp.Compare(i.First, position) })
	if !ok {
		i--
	}
	if i < 0 || position >= list[i].First+list[i].Count {
		return nil
	}
	return &list[i]
}
