package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// tokenizerJSON is what of a tokenizer.json matters here.
type tokenizerJSON struct {
	AddedTokens []struct {
		ID         int
		Content    string
		SingleWord bool `json:"single_word"`
		LStrip     bool
		RStrip     bool
		Normalized bool
	} `json:"added_tokens"`
	Normalizer *struct {
		Type               string
		CleanText          bool  `json:"clean_text"`
		HandleChineseChars bool  `json:"handle_chinese_chars"`
		StripAccents       *bool `json:"strip_accents"` // nil: as Lowercase
		Lowercase          bool
	}
	PreTokenizer *struct{ Type string } `json:"pre_tokenizer"`
	Model        struct {
		Type                    string
		UnkToken                string `json:"unk_token"`
		ContinuingSubwordPrefix string `json:"continuing_subword_prefix"`
		MaxInputCharsPerWord    int    `json:"max_input_chars_per_word"`
		Vocab                   map[string]int
	}
}

// NewWordPiece reads a tokenizer from the content of a tokenizer.json, the
// format of Hugging Face's tokenizers. Its model must be WordPiece, its
// normalizer BertNormalizer and its pre-tokenizer BertPreTokenizer; added tokens
// must be looked for in the text as it is. What the file says about truncation,
// padding and tokens at the ends of a text is ignored.
//
// The name is what String returns, for the names of chunkers: one or more
// letters, digits or characters of "._-".
func NewWordPiece(name string, content []byte) (*WordPiece, error) {
	if name == "" || plainWord(name) != name {
		return nil, fmt.Errorf("WordPiece tokenizer: name is %q: want letters, digits and characters of \"._-\"", name)
	}
	w, err := parseWordPiece(content)
	if err != nil {
		return nil, fmt.Errorf("reading the tokenizer.json of %s: %w", name, err)
	}
	w.name = name
	return w, nil
}

func parseWordPiece(content []byte) (*WordPiece, error) {
	var file tokenizerJSON
	decoder := json.NewDecoder(bytes.NewReader(content))
	if err := decoder.Decode(&file); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("byte %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	model, normalizer := file.Model, file.Normalizer
	switch {
	case model.Type != "WordPiece":
		return nil, fmt.Errorf("model.type is %q: want WordPiece", model.Type)
	case normalizer == nil || normalizer.Type != "BertNormalizer":
		return nil, errors.New("normalizer: want one of type BertNormalizer")
	case file.PreTokenizer == nil || file.PreTokenizer.Type != "BertPreTokenizer":
		return nil, errors.New("pre_tokenizer: want one of type BertPreTokenizer")
	case model.MaxInputCharsPerWord < 1:
		return nil, fmt.Errorf("model.max_input_chars_per_word is %d: want at least 1", model.MaxInputCharsPerWord)
	case model.ContinuingSubwordPrefix == "":
		return nil, errors.New("model.continuing_subword_prefix is empty: want a prefix, such as ##")
	}
	unknown, ok := model.Vocab[model.UnkToken]
	if !ok {
		return nil, fmt.Errorf("model.unk_token is %q, which is not in model.vocab", model.UnkToken)
	}
	w := &WordPiece{
		initial:          map[string]int{},
		inner:            map[string]int{},
		unknown:          unknown,
		maxChars:         model.MaxInputCharsPerWord,
		cleans:           normalizer.CleanText,
		separatesChinese: normalizer.HandleChineseChars,
		stripsAccents:    normalizer.Lowercase,
		lowers:           normalizer.Lowercase,
	}
	if normalizer.StripAccents != nil {
		w.stripsAccents = *normalizer.StripAccents
	}
	for token, id := range model.Vocab {
		w.initial[token] = id
		w.longest = max(w.longest, len(token))
		if rest, ok := strings.CutPrefix(token, model.ContinuingSubwordPrefix); ok {
			w.inner[rest] = id
		}
	}
	for i, added := range file.AddedTokens {
		if added.SingleWord || added.LStrip || added.RStrip || added.Normalized || added.Content == "" {
			return nil, fmt.Errorf("added_tokens[%d] is %+v: want a token with a content, not normalized, and without single_word, lstrip and rstrip", i, added)
		}
		w.special = append(w.special, specialToken{added.Content, added.ID})
	}
	return w, nil
}
