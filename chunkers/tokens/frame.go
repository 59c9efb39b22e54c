package tokens

import (
	"encoding/json"
	"errors"
	"fmt"
)

// frame is what a model wants around one text and around two.
type frame struct{ single, pair template }

// template lists the texts and the special tokens between them.
type template []templatePart

type templatePart struct {
	text   int   // 1: the first text, 2: the second, 0: special tokens
	ids    []int // of the special tokens
	typeID int
}

// bare is the frame of a model that wants nothing around texts.
var bare = frame{
	single: template{{text: 1}},
	pair:   template{{text: 1}, {text: 2, typeID: 1}},
}

func (t template) around(first, second []int) (ids, types []int) {
	n := 0
	for _, p := range t {
		n += len(p.of(first, second))
	}
	ids, types = make([]int, 0, n), make([]int, 0, n)
	for _, p := range t {
		ids = append(ids, p.of(first, second)...)
		for len(types) < len(ids) {
			types = append(types, p.typeID)
		}
	}
	return ids, types
}

func (p templatePart) of(first, second []int) []int {
	switch p.text {
	case 1:
		return first
	case 2:
		return second
	}
	return p.ids
}

// processorJSON is a post_processor of a tokenizer.json.
type processorJSON struct {
	Type          string
	Processors    []processorJSON                // of a Sequence
	Single, Pair  []pieceJSON                    // of a TemplateProcessing
	SpecialTokens map[string]struct{ IDs []int } `json:"special_tokens"`
	CLS, SEP      *specialJSON                   // of BertProcessing and RobertaProcessing
}

type pieceJSON struct {
	Sequence, SpecialToken *struct {
		ID     string
		TypeID int `json:"type_id"`
	}
}

// specialJSON is ["[CLS]", 101].
type specialJSON struct{ id int }

func (s *specialJSON) UnmarshalJSON(content []byte) error {
	var token string
	parts := []any{&token, &s.id}
	if err := json.Unmarshal(content, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("special token has %d parts: want its text and its ID", len(parts))
	}
	return nil
}

// parseFrame returns what p, nil for none, puts around texts. IDs are below size.
func parseFrame(p *processorJSON, size int) (frame, error) {
	if p == nil {
		return bare, nil
	}
	switch p.Type {
	case "TemplateProcessing":
		return parseTemplates(p, size)
	case "BertProcessing", "RobertaProcessing":
		if p.CLS == nil || p.SEP == nil {
			return frame{}, fmt.Errorf("post_processor of type %s has no cls or no sep", p.Type)
		}
		for _, s := range []*specialJSON{p.CLS, p.SEP} {
			if s.id < 0 || s.id >= size {
				return frame{}, fmt.Errorf("post_processor: ID %d of a special token: want one below %d", s.id, size)
			}
		}
		cls, sep := []int{p.CLS.id}, []int{p.SEP.id}
		f := frame{single: template{{ids: cls}, {text: 1}, {ids: sep}}}
		if p.Type == "BertProcessing" {
			f.pair = append(f.single[:3:3], templatePart{text: 2, typeID: 1}, templatePart{ids: sep, typeID: 1})
		} else {
			f.pair = append(f.single[:3:3], templatePart{ids: sep}, templatePart{text: 2}, templatePart{ids: sep})
		}
		return f, nil
	case "Sequence":
		found := (*processorJSON)(nil)
		for i, step := range p.Processors {
			if found != nil {
				return frame{}, fmt.Errorf("post_processor.processors[%d] is a second one: want one", i)
			}
			found = &p.Processors[i]
			if step.Type == "Sequence" {
				return frame{}, fmt.Errorf("post_processor.processors[%d] is a Sequence within a Sequence", i)
			}
		}
		return parseFrame(found, size)
	}
	return frame{}, fmt.Errorf("post_processor.type is %q: want TemplateProcessing, BertProcessing, RobertaProcessing or Sequence", p.Type)
}

func parseTemplates(p *processorJSON, size int) (f frame, err error) {
	if f.single, err = parseTemplate(p, p.Single, size); err != nil {
		return frame{}, fmt.Errorf("post_processor.single%w", err)
	}
	if f.pair, err = parseTemplate(p, p.Pair, size); err != nil {
		return frame{}, fmt.Errorf("post_processor.pair%w", err)
	}
	return f, nil
}

func parseTemplate(p *processorJSON, pieces []pieceJSON, size int) (t template, err error) {
	for i, piece := range pieces {
		switch {
		case piece.Sequence != nil && piece.SpecialToken == nil && (piece.Sequence.ID == "A" || piece.Sequence.ID == "B"):
			t = append(t, templatePart{text: int(piece.Sequence.ID[0]-'A') + 1, typeID: piece.Sequence.TypeID})
		case piece.SpecialToken != nil && piece.Sequence == nil:
			special, ok := p.SpecialTokens[piece.SpecialToken.ID]
			if !ok {
				return nil, fmt.Errorf("[%d].SpecialToken.id is %q, which is not in post_processor.special_tokens", i, piece.SpecialToken.ID)
			}
			for _, id := range special.IDs {
				if id < 0 || id >= size {
					return nil, fmt.Errorf("[%d]: %q has the ID %d: want one below %d", i, piece.SpecialToken.ID, id, size)
				}
			}
			t = append(t, templatePart{ids: special.IDs, typeID: piece.SpecialToken.TypeID})
		default:
			return nil, fmt.Errorf("[%d] is neither one of the sequences A and B nor a special token", i)
		}
	}
	if len(t) == 0 {
		return nil, errors.New(" is empty")
	}
	return t, nil
}
