package tokens

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
)

// tokenizerJSON is what of a tokenizer.json matters here.
type tokenizerJSON struct {
	AddedTokens   []addedTokenJSON  `json:"added_tokens"`
	Normalizer    *normalizerJSON   `json:"normalizer"`
	PreTokenizer  *preTokenizerJSON `json:"pre_tokenizer"`
	PostProcessor *processorJSON    `json:"post_processor"`
	Model         struct {
		Type                    string
		UnkToken                string `json:"unk_token"`
		ContinuingSubwordPrefix string `json:"continuing_subword_prefix"`
		MaxInputCharsPerWord    int    `json:"max_input_chars_per_word"`
		UnkID                   *int   `json:"unk_id"`
		ByteFallback            bool   `json:"byte_fallback"`
		Vocab                   json.RawMessage
	}
}

type addedTokenJSON struct {
	ID         int
	Content    string
	SingleWord bool `json:"single_word"`
	LStrip     bool
	RStrip     bool
	Normalized bool
}

// maxID is the greatest ID that a token may have.
const maxID = math.MaxInt32 - 1

func parseTokenizer(content []byte) (*ModelTokenizer, error) {
	file, err := parseFile(content)
	if err != nil {
		return nil, err
	}
	m, err := file.tokenizer()
	if err != nil {
		return nil, err
	}
	m.frame, err = parseFrame(file.PostProcessor, m.size)
	return m, err
}

func parseFile(content []byte) (*tokenizerJSON, error) {
	var file tokenizerJSON
	if err := json.Unmarshal(content, &file); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("byte %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	return &file, nil
}

// tokenizer returns the file's tokenizer without its frame.
func (file *tokenizerJSON) tokenizer() (m *ModelTokenizer, err error) {
	var lengths []int
	m = &ModelTokenizer{unknown: -1, frame: bare}
	switch file.Model.Type {
	case "WordPiece":
		lengths, err = file.wordpiece(m)
	case "Unigram":
		lengths, err = file.unigram(m)
	default:
		return nil, fmt.Errorf("model.type is %q: want WordPiece or Unigram", file.Model.Type)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(lengths)
	m.median = lengths[len(lengths)/2]
	for i, a := range file.AddedTokens {
		if a.SingleWord || a.Normalized || a.Content == "" {
			return nil, fmt.Errorf("added_tokens[%d] is %+v: want a token with a content, not normalized and without single_word", i, a)
		}
		if a.ID < 0 || a.ID > maxID {
			return nil, fmt.Errorf("added_tokens[%d].id is %d: want one from 0 to %d", i, a.ID, maxID)
		}
		m.size = max(m.size, a.ID+1)
		m.added = append(m.added, addedToken{a.Content, a.ID, a.LStrip, a.RStrip})
	}
	return m, nil
}

// wordpiece sets the model of m and returns the lengths of its tokens in bytes.
func (file *tokenizerJSON) wordpiece(m *ModelTokenizer) (lengths []int, err error) {
	model := file.Model
	normalizer := file.Normalizer
	var vocabulary map[string]int
	switch {
	case normalizer == nil || normalizer.Type != "BertNormalizer":
		return nil, errors.New("normalizer: want one of type BertNormalizer")
	case file.PreTokenizer == nil || file.PreTokenizer.Type != "BertPreTokenizer":
		return nil, errors.New("pre_tokenizer: want one of type BertPreTokenizer")
	case model.MaxInputCharsPerWord < 1:
		return nil, fmt.Errorf("model.max_input_chars_per_word is %d: want at least 1", model.MaxInputCharsPerWord)
	case model.ContinuingSubwordPrefix == "":
		return nil, errors.New("model.continuing_subword_prefix is empty: want a prefix, such as ##")
	}
	if err := unmarshalVocab(model.Vocab, &vocabulary); err != nil {
		return nil, err
	}
	unknown, ok := vocabulary[model.UnkToken]
	if !ok {
		return nil, fmt.Errorf("model.unk_token is %q, which is not in model.vocab", model.UnkToken)
	}
	for token, id := range vocabulary {
		if id < 0 || id > maxID {
			return nil, fmt.Errorf("model.vocab: %q has the ID %d: want one from 0 to %d", token, id, maxID)
		}
		m.size = max(m.size, id+1)
		lengths = append(lengths, len(token))
	}
	m.unknown = unknown
	m.model = newWordpieceModel(vocabulary, model.ContinuingSubwordPrefix, unknown, model.MaxInputCharsPerWord, normalizer.bert())
	return lengths, nil
}

func unmarshalVocab(content json.RawMessage, vocabulary any) error {
	if content == nil {
		return errors.New("model.vocab is missing")
	}
	if err := json.Unmarshal(content, vocabulary); err != nil {
		return fmt.Errorf("model.vocab: %w", err)
	}
	return nil
}

// scoredToken is ["token", -9.5].
type scoredToken struct {
	text  string
	score float64
}

func (t *scoredToken) UnmarshalJSON(content []byte) error {
	parts := []any{&t.text, &t.score}
	if err := json.Unmarshal(content, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("%s: want a token and its score", content)
	}
	return nil
}

// unigram sets the model of m and returns the lengths of its tokens in bytes.
func (file *tokenizerJSON) unigram(m *ModelTokenizer) (lengths []int, err error) {
	var vocabulary []scoredToken
	if err := unmarshalVocab(file.Model.Vocab, &vocabulary); err != nil {
		return nil, err
	}
	if file.Model.UnkID == nil {
		return nil, errors.New("model.unk_id is missing: want the index of the unknown token in model.vocab")
	}
	unknown := *file.Model.UnkID
	if unknown < 0 || unknown >= len(vocabulary) {
		return nil, fmt.Errorf("model.unk_id is %d: model.vocab has %d tokens", unknown, len(vocabulary))
	}
	for _, t := range vocabulary {
		lengths = append(lengths, len(t.text))
	}
	m.size, m.unknown = len(vocabulary), unknown
	model := newUnigramModel(vocabulary, unknown, file.Model.ByteFallback)
	if model.normalizers, err = file.Normalizer.steps("normalizer", nil); err != nil {
		return nil, err
	}
	if model.preTokenizers, err = file.PreTokenizer.steps("pre_tokenizer", nil); err != nil {
		return nil, err
	}
	for _, p := range model.preTokenizers {
		if scheme, ok := p.(metaspace); ok && scheme.prepend == prependFirst {
			model.needsPlaces = true
		}
	}
	m.model = model
	return lengths, nil
}
