package langsmithtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

type session struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	TenantID  string     `json:"tenant_id"`
	Dataset   string     `json:"reference_dataset_id"`
	StartTime time.Time  `json:"start_time"`
	EndTime   *time.Time `json:"end_time"`
	Extra     object     `json:"extra"`
}

// TracerSessionCreate of the OpenAPI document.
type sessionCreate struct {
	ID             *id      `json:"id"`
	DefaultDataset *id      `json:"default_dataset_id"`
	Description    string   `json:"description"`
	EndTime        *instant `json:"end_time"`
	Extra          object   `json:"extra"`
	Name           string   `json:"name"`
	Dataset        *id      `json:"reference_dataset_id"`
	StartTime      *instant `json:"start_time"`
	TraceTier      string   `json:"trace_tier"`
}

func (s *Server) createSession(r request) (any, error) {
	var c sessionCreate
	if err := decode(r.body, &c); err != nil {
		return nil, err
	}
	n := &session{Name: c.Name, TenantID: Tenant, Extra: c.Extra}
	for _, other := range s.sessions {
		if other.Name == n.Name || c.ID != nil && other.ID == string(*c.ID) {
			return nil, refuse(http.StatusConflict, "Session already exists.")
		}
	}
	switch {
	case c.ID == nil:
		n.ID = s.newID()
	default:
		n.ID = string(*c.ID)
	}
	if n.Name == "" {
		return nil, invalid("an experiment without a name")
	}
	if c.Dataset != nil {
		if _, err := s.dataset(string(*c.Dataset)); err != nil {
			return nil, err
		}
		n.Dataset = string(*c.Dataset)
	}
	if n.StartTime = s.now(); c.StartTime != nil {
		n.StartTime = c.StartTime.Time
	}
	s.sessions = append(s.sessions, n)
	return n, nil
}

// TracerSessionUpdate of the OpenAPI document.
type sessionUpdate struct {
	DefaultDataset *id      `json:"default_dataset_id"`
	Description    *string  `json:"description"`
	EndTime        *instant `json:"end_time"`
	Extra          object   `json:"extra"`
	Name           *string  `json:"name"`
	TraceTier      *string  `json:"trace_tier"`
}

func (s *Server) updateSession(r request) (any, error) {
	n, err := s.session(r.path[1])
	if err != nil {
		return nil, err
	}
	var u sessionUpdate
	if err := decode(r.body, &u); err != nil {
		return nil, err
	}
	if u.EndTime != nil {
		if u.EndTime.Before(n.StartTime) {
			return nil, invalid("end_time %v is before start_time %v", u.EndTime, n.StartTime)
		}
		n.EndTime = &u.EndTime.Time
	}
	return n, nil
}

func (s *Server) session(id string) (*session, error) {
	for _, n := range s.sessions {
		if n.ID == id {
			return n, nil
		}
	}
	return nil, refuse(http.StatusNotFound, "Session not found")
}

func (s *Server) getSession(r request) (any, error) { return s.session(r.path[1]) }

func (s *Server) listSessions(r request) (any, error) {
	if err := r.query.only("name", "name_contains", "reference_dataset", "limit", "offset"); err != nil {
		return nil, err
	}
	found := []*session{}
	for _, n := range s.sessions {
		name, named := r.query["name"]
		dataset, of := r.query["reference_dataset"]
		if named && name != n.Name || of && dataset != n.Dataset || !strings.Contains(n.Name, r.query["name_contains"]) {
			continue
		}
		found = append(found, n)
	}
	return page(r.query, found)
}

// Experiment is what a server holds of an experiment.
type Experiment struct {
	ID, Name, DatasetID string
	Ended               bool
	Extra               string              // compact JSON with sorted keys
	Runs                []Run               // in order of ID
	Feedback            []Feedback          // on runs, in order of run and key
	Summary             map[string]Feedback // on the experiment, by key
}

// Experiments returns all experiments, in order of creation. Runs without their parent,
// feedback without its run, and two of one key on one run are faults.
func (s *Server) Experiments() []Experiment {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Experiment
	for _, n := range s.sessions {
		x := Experiment{ID: n.ID, Name: n.Name, DatasetID: n.Dataset, Ended: n.EndTime != nil, Extra: string(mustJSON(n.Extra)), Summary: map[string]Feedback{}}
		for _, run := range s.runs {
			if run.SessionID != n.ID {
				continue
			}
			if run.Parent != "" && s.runs[run.Parent] == nil {
				s.Fault("run " + run.ID + " has the parent " + run.Parent + ", which never came")
			}
			x.Runs = append(x.Runs, *run)
		}
		for _, f := range s.feedback {
			if f.SessionID != n.ID {
				continue
			}
			if f.RunID == "" {
				if _, ok := x.Summary[f.Key]; ok {
					s.Fault("two summaries " + f.Key)
				}
				x.Summary[f.Key] = *f
				continue
			}
			if s.runs[f.RunID] == nil {
				s.Fault("feedback " + f.ID + " is on the run " + f.RunID + ", which never came")
			}
			x.Feedback = append(x.Feedback, *f)
		}
		slices.SortFunc(x.Runs, func(a, b Run) int { return strings.Compare(a.ID, b.ID) })
		slices.SortFunc(x.Feedback, func(a, b Feedback) int { return strings.Compare(a.RunID+a.Key, b.RunID+b.Key) })
		for i := range x.Feedback {
			if i > 0 && x.Feedback[i].RunID == x.Feedback[i-1].RunID && x.Feedback[i].Key == x.Feedback[i-1].Key {
				s.Fault("two feedbacks " + x.Feedback[i].Key + " on the run " + x.Feedback[i].RunID)
			}
		}
		all = append(all, x)
	}
	return all
}
