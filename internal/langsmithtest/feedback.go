package langsmithtest

import (
	"encoding/json"
	"net/http"
	"unicode/utf8"
)

// maxKey is the maxLength of FeedbackCreateSchema.key in the OpenAPI document.
const maxKey = 180

// Feedback is what a server holds of feedback.
type Feedback struct {
	ID, Key, Comment, RunID, SessionID string
	Score                              float64
}

// FeedbackCreateSchema of the OpenAPI document.
type feedbackCreate struct {
	Key         string          `json:"key" required:"true"`
	ID          *id             `json:"id"`
	Comment     string          `json:"comment"`
	Comparative *id             `json:"comparative_experiment_id"`
	Correction  json.RawMessage `json:"correction"`
	CreatedAt   *instant        `json:"created_at"`
	Error       *bool           `json:"error"`
	Extra       object          `json:"extra"`
	Config      object          `json:"feedback_config"`
	Group       *id             `json:"feedback_group_id"`
	Source      object          `json:"feedback_source"`
	ModifiedAt  *instant        `json:"modified_at"`
	RunID       *id             `json:"run_id"`
	Score       *float64        `json:"score"`
	SessionID   *id             `json:"session_id"`
	StartTime   *instant        `json:"start_time"`
	Trace       *id             `json:"trace_id"`
	Value       json.RawMessage `json:"value"`
}

func (s *Server) createFeedback(r request) (any, error) {
	var c feedbackCreate
	if err := decode(r.body, &c); err != nil {
		return nil, err
	}
	again, err := s.addFeedback(c, r.body)
	if err != nil {
		return nil, err
	}
	if again && s.Conflict {
		return nil, refuse(http.StatusConflict, "Feedback already exists")
	}
	return map[string]any{"id": c.ID, "key": c.Key}, nil
}

// addFeedback stores feedback on a run, which may come later, or on an experiment.
func (s *Server) addFeedback(c feedbackCreate, sent []byte) (again bool, err error) {
	switch {
	case utf8.RuneCountInString(c.Key) > maxKey:
		return false, invalid("the key has %d characters, want at most %d", utf8.RuneCountInString(c.Key), maxKey)
	case c.ID == nil:
		return false, invalid("no id, so that sending it again would make another feedback")
	case c.SessionID == nil:
		return false, invalid("no session_id")
	case c.Score == nil:
		return false, invalid("no score")
	case (c.RunID == nil) != (c.Trace == nil):
		return false, invalid("want both run_id and trace_id, or neither")
	}
	experiment, err := s.session(string(*c.SessionID))
	if err != nil {
		return false, invalid("%v", err)
	}
	if c.Source != nil {
		var t string
		if err := json.Unmarshal(c.Source["type"], &t); err != nil {
			return false, invalid("feedback_source: %v", err)
		}
		if err := in("feedback_source.type", t, "app", "api", "model", "auto_eval"); err != nil {
			return false, err
		}
	}
	if again, err = s.keep(string(*c.ID), sent); err != nil {
		return again, err
	}
	f := &Feedback{ID: string(*c.ID), Key: c.Key, Comment: c.Comment, SessionID: experiment.ID, Score: *c.Score}
	if c.RunID != nil {
		f.RunID = string(*c.RunID)
	}
	s.feedback[f.ID] = f
	return again, nil
}
