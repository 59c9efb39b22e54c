package langsmithtest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const (
	key      = "key"
	run      = "11111111-1111-4111-8111-111111111111"
	child    = "22222222-2222-4222-8222-222222222222"
	other    = "33333333-3333-4333-8333-333333333333"
	aSession = "44444444-4444-4444-8444-444444444444"
	order    = "20260101T000000000000Z"
)

// client sends requests to a server and notes its faults.
type client struct {
	*Server
	faults []string
}

func newClient() *client {
	c := &client{}
	c.Server = New(key, func(message string) { c.faults = append(c.faults, message) })
	return c
}

func (c *client) do(method, path, contentType, body string) (status int, answer string) {
	r := httptest.NewRequest(method, "http://langsmith"+path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", key)
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func (c *client) json(method, path, body string) (status int, answer string) {
	return c.do(method, path, "application/json", body)
}

// ingest sends parts, given as names and JSON.
func (c *client) ingest(parts ...string) (status int, answer string) {
	var b strings.Builder
	for i := 0; i < len(parts); i += 2 {
		fmt.Fprintf(&b, "--x\r\nContent-Disposition: form-data; name=%q\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s\r\n", parts[i], len(parts[i+1]), parts[i+1])
	}
	b.WriteString("--x--\r\n")
	return c.do("POST", "/runs/multipart", "multipart/form-data; boundary=x", b.String())
}

// prepare makes a dataset with one example and an experiment on it.
func prepare() (c *client, dataset, example string) {
	c = newClient()
	dataset = c.AddDataset("d", "", `{"inputs":{"query":"?"}}`)
	c.json("POST", "/api/v1/sessions", `{"id":"`+aSession+`","name":"e","reference_dataset_id":"`+dataset+`","start_time":"2026-01-01T00:00:00Z"}`)
	return c, dataset, c.Dataset("d").Examples[0].ID
}

func post(id, parent, order, more string) string {
	if parent != "" {
		more += `,"parent_run_id":"` + parent + `"`
	}
	return `{"id":"` + id + `","trace_id":"` + run + `","dotted_order":"` + order + `","name":"n","run_type":"chain","session_id":"` + aSession + `","start_time":"2026-01-01T00:00:00Z"` + more + `}`
}

func TestWhatIsDocumentedIsAccepted(t *testing.T) {
	c, dataset, example := prepare()
	steps := []struct {
		want         int
		status       int
		what, answer string
	}{}
	note := func(what string, want int) func(int, string) {
		return func(status int, answer string) {
			steps = append(steps, struct {
				want         int
				status       int
				what, answer string
			}{want, status, what, answer})
		}
	}
	note("list", 200)(c.json("GET", "/api/v1/datasets?name=d&limit=100", ""))
	note("run", 202)(c.ingest("post."+run, post(run, "", order+run, `,"reference_example_id":"`+example+`"`), "post."+run+".inputs", `{"query":"?"}`,
		"feedback."+other, `{"id":"`+other+`","key":"k","score":1,"run_id":"`+run+`","trace_id":"`+run+`","session_id":"`+aSession+`"}`))
	note("child", 202)(c.ingest("post."+child, post(child, run, order+run+"."+order+child, ""), "post."+child+".inputs", `{}`))
	note("the same child", 202)(c.ingest("post."+child, post(child, run, order+run+"."+order+child, ""), "post."+child+".inputs", `{}`))
	note("dataset of that name", 409)(c.json("POST", "/api/v1/datasets", `{"name":"d"}`))
	note("experiment of that name", 409)(c.json("POST", "/api/v1/sessions", `{"name":"e"}`))
	note("absent experiment", 404)(c.json("GET", "/api/v1/sessions/"+other, ""))
	note("absent version", 404)(c.json("GET", "/api/v1/datasets/"+dataset+"/version?tag=none", ""))
	note("version", 200)(c.json("GET", "/api/v1/datasets/"+dataset+"/version?tag=latest", ""))
	for _, s := range steps {
		if s.status != s.want {
			t.Errorf("%s: got status %d (%s), want %d", s.what, s.status, s.answer, s.want)
		}
	}
	x := c.Experiments()[0]
	if len(x.Runs) != 2 || len(x.Feedback) != 1 || len(c.faults) > 0 {
		t.Errorf("got %d runs, %d feedbacks and the faults %q, want 2, 1 and none", len(x.Runs), len(x.Feedback), c.faults)
	}
}

func TestWhatIsNotDocumentedIsAFault(t *testing.T) {
	inputs := []string{"post." + run + ".inputs", "{}"}
	for name, c := range map[string]struct {
		send func(c *client, dataset, example string)
		want string
	}{
		"unknown endpoint":      {func(c *client, _, _ string) { c.json("GET", "/api/v1/info", "") }, "there is no such endpoint"},
		"prefix twice":          {func(c *client, _, _ string) { c.json("GET", "/api/v1/api/v1/datasets", "") }, "there is no such endpoint"},
		"unknown parameter":     {func(c *client, _, _ string) { c.json("GET", "/api/v1/datasets?nam=d", "") }, `unknown parameter "nam"`},
		"large page":            {func(c *client, d, _ string) { c.json("GET", "/api/v1/examples?limit=101&dataset="+d, "") }, "limit is 101"},
		"unknown field":         {func(c *client, _, _ string) { c.json("POST", "/api/v1/datasets", `{"name":"n","metadata":{}}`) }, `unknown field "metadata"`},
		"field in another case": {func(c *client, _, _ string) { c.json("POST", "/api/v1/datasets", `{"Name":"n"}`) }, "the field name is missing"},
		"missing field":         {func(c *client, _, _ string) { c.json("POST", "/api/v1/datasets", `{}`) }, "the field name is missing"},
		"NaN":                   {func(c *client, _, _ string) { c.json("POST", "/api/v1/feedback", `{"key":"k","score":NaN}`) }, "invalid character 'N'"},
		"feedback without score": {func(c *client, _, _ string) {
			c.json("POST", "/api/v1/feedback", `{"id":"`+other+`","key":"k","session_id":"`+aSession+`"}`)
		}, "no score"},
		"feedback with a long key": {func(c *client, _, _ string) {
			c.json("POST", "/api/v1/feedback", `{"id":"`+other+`","key":"`+strings.Repeat("k", 181)+`","score":1,"session_id":"`+aSession+`"}`)
		}, "the key has 181 characters, want at most 180"},
		"feedback nowhere": {func(c *client, _, _ string) {
			c.json("POST", "/api/v1/feedback", `{"id":"`+other+`","key":"k","score":1}`)
		}, "no session_id"},
		"no JSON type": {func(c *client, _, _ string) { c.do("POST", "/api/v1/datasets", "text/plain", `{"name":"n"}`) }, "the content type"},
		"no UUID":      {func(c *client, _, _ string) { c.json("POST", "/api/v1/sessions", `{"id":"7","name":"n"}`) }, "is not a UUID"},
		"no time":      {func(c *client, _, _ string) { c.json("POST", "/api/v1/sessions", `{"name":"n","start_time":"today"}`) }, "today"},
		"no exact version": {func(c *client, d, _ string) {
			c.json("PUT", "/api/v1/datasets/"+d+"/tags", `{"as_of":"2027-01-01T00:00:00Z","tag":"t"}`)
		}, "want an exact version"},
		"example without ID": {func(c *client, d, _ string) {
			c.json("POST", "/api/v1/examples/bulk", `[{"dataset_id":"`+d+`","inputs":{"q":1}}]`)
		}, "no ID"},
		"object, not array": {func(c *client, d, _ string) { c.json("POST", "/api/v1/examples/bulk", `{"body":[]}`) }, "cannot unmarshal object"},
		"run without trace": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, `{"id":"` + run + `"}`}, inputs...)...)
		}, "is missing"},
		"run without inputs": {func(c *client, _, _ string) { c.ingest("post."+run, post(run, "", order+run, "")) }, "no inputs"},
		"inputs before run":  {func(c *client, _, _ string) { c.ingest(append(inputs, "post."+run, post(run, "", order+run, ""))...) }, "comes before its run"},
		"order of another run": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, "", order+child, "")}, inputs...)...)
		}, "to end with the run"},
		"order of another time": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, "", "20260101T000001000000Z"+run, "")}, inputs...)...)
		}, "want the start time"},
		"order with a dot": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, "", "20260101T000000.000000Z"+run, "")}, inputs...)...)
		}, "is not <time>Z<uuid>"},
		"order without parent": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, child, order+run, "")}, inputs...)...)
		}, "go through the parent"},
		"foreign example": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, "", order+run, `,"reference_example_id":"`+other+`"`)}, inputs...)...)
		}, "is not in the dataset"},
		"odd run type": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, strings.Replace(post(run, "", order+run, ""), "chain", "chains", 1)}, inputs...)...)
		}, "run_type"},
		"ends before it starts": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, "", order+run, `,"end_time":"2025-01-01T00:00:00Z"`)}, inputs...)...)
		}, "is before start_time"},
		"part of another name": {func(c *client, _, _ string) { c.ingest("create."+run, "{}") }, "is not of the pattern"},
		"length": {func(c *client, _, _ string) {
			c.do("POST", "/runs/multipart", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"post.1\"\r\nContent-Type: application/json\r\nContent-Length: 1\r\n\r\n{}\r\n--x--\r\n")
		}, `the length is "1", want 2`},
		"other content": {func(c *client, _, _ string) {
			c.ingest(append([]string{"post." + run, post(run, "", order+run, "")}, inputs...)...)
			c.ingest(append([]string{"post." + run, post(run, "", order+run, `,"tags":["x"]`)}, inputs...)...)
		}, "is created again with other content"},
		"child without parent": {func(c *client, _, _ string) {
			c.ingest("post."+child, post(child, run, order+run+"."+order+child, ""), "post."+child+".inputs", "{}")
			c.Experiments()
		}, "which never came"},
		"feedback without run": {func(c *client, _, _ string) {
			c.ingest("feedback."+other, `{"id":"`+other+`","key":"k","score":1,"run_id":"`+run+`","trace_id":"`+run+`","session_id":"`+aSession+`"}`)
			c.Experiments()
		}, "which never came"},
	} {
		t.Run(name, func(t *testing.T) {
			client, dataset, example := prepare()
			c.send(client, dataset, example)
			if len(client.faults) != 1 || !strings.Contains(client.faults[0], c.want) {
				t.Errorf("got faults %q, want one with %q", client.faults, c.want)
			}
		})
	}
}

func TestWhoMayAsk(t *testing.T) {
	c := newClient()
	for _, h := range []struct {
		key, tenant string
		want        int
	}{{key, "", 200}, {key, Tenant, 200}, {"", "", 401}, {"other", "", 401}, {key, other, 403}} {
		r := httptest.NewRequest("GET", "http://langsmith/api/v1/datasets", http.NoBody)
		r.Header.Set("X-Api-Key", h.key)
		if h.tenant != "" {
			r.Header.Set("X-Tenant-Id", h.tenant)
		}
		w := httptest.NewRecorder()
		if c.ServeHTTP(w, r); w.Code != h.want {
			t.Errorf("key %q, tenant %q: got %d, want %d", h.key, h.tenant, w.Code, h.want)
		}
	}
	c.RateLimit = 2
	limited := 0
	for range 9 {
		if status, _ := c.json("GET", "/api/v1/datasets", ""); status == 429 {
			limited++
		}
	}
	if limited != 3 {
		t.Errorf("of 9 requests at a limit of 2, %d got 429, want 3", limited)
	}
}
