package onnx

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// limits is what a model's files say about the texts it reads.
type limits struct {
	maxTokens int
	padding   int64 // the ID of the token for padding
	lower     bool  // texts are lower-cased before they are tokenized
}

// limits reads how long texts may be. sentence-transformers' own file is more to
// the point than the tokenizer's. All the files may be missing.
func (m Model) limits() (l limits, err error) {
	var config struct {
		ModelType             string `json:"model_type"`
		MaxPositionEmbeddings int    `json:"max_position_embeddings"`
		PadTokenID            *int64 `json:"pad_token_id"`
	}
	var sentence struct {
		MaxSeqLength *int `json:"max_seq_length"`
		DoLowerCase  bool `json:"do_lower_case"`
	}
	var tokenizer struct {
		Truncation *struct {
			MaxLength int `json:"max_length"`
		}
		Padding *struct {
			PadID int64 `json:"pad_id"`
		}
	}
	var tokenizerConfig struct {
		ModelMaxLength float64 `json:"model_max_length"` // 1e30 for none
	}
	for _, f := range []struct {
		name    string
		content any
	}{
		{"config.json", &config}, {"sentence_bert_config.json", &sentence},
		{"tokenizer.json", &tokenizer}, {"tokenizer_config.json", &tokenizerConfig},
	} {
		if _, err := m.decode(f.name, f.content); err != nil {
			return l, err
		}
	}
	l.lower = sentence.DoLowerCase
	switch {
	case config.PadTokenID != nil:
		l.padding = *config.PadTokenID
	case tokenizer.Padding != nil:
		l.padding = tokenizer.Padding.PadID
	}
	if l.padding < 0 {
		return l, fmt.Errorf("the ID of the token for padding is %d: want at least 0", l.padding)
	}
	positions := config.MaxPositionEmbeddings
	if countsFromPadding[config.ModelType] && positions > 0 {
		positions -= int(l.padding) + 1
	}
	switch {
	case m.MaxTokens > 0:
		l.maxTokens = m.MaxTokens
		if positions > 0 && m.MaxTokens > positions {
			return l, fmt.Errorf("field MaxTokens: got %d, but config.json says that the model reads at most %d tokens", m.MaxTokens, positions)
		}
		return l, nil
	case sentence.MaxSeqLength != nil:
		l.maxTokens = *sentence.MaxSeqLength
	case tokenizer.Truncation != nil:
		l.maxTokens = tokenizer.Truncation.MaxLength
	case tokenizerConfig.ModelMaxLength > 0 && tokenizerConfig.ModelMaxLength < 1e6:
		l.maxTokens = int(tokenizerConfig.ModelMaxLength)
	default:
		l.maxTokens = cmp.Or(positions, 512)
	}
	if positions > 0 {
		l.maxTokens = min(l.maxTokens, positions)
	}
	if l.maxTokens < 1 {
		return l, fmt.Errorf("the model's files say that it reads at most %d tokens: want at least 1", l.maxTokens)
	}
	return l, nil
}

// countsFromPadding holds the types of models whose first position is the one
// after the ID of the token for padding, so that they have fewer positions than
// their configuration says.
var countsFromPadding = map[string]bool{"roberta": true, "xlm-roberta": true, "camembert": true, "mpnet": true}

// recipe is what a model's files say about how a text's vector is made.
type recipe struct {
	pooling       Pooling
	normalization Normalization
	prefixes      Prefixes
	skipsPrefix   bool // prefixes are left out of the mean
}

// recipe reads the files of sentence-transformers; without them, the vector is
// the normalised mean. What e says itself is not read.
func (e *Embedder) recipe() (r recipe, err error) {
	r = recipe{pooling: MeanPooling, normalization: Normalized}
	var modules []struct{ Path, Type string }
	found, err := e.decode("modules.json", &modules)
	if err != nil {
		return r, err
	}
	pooling := "1_Pooling"
	if found {
		r.normalization = NotNormalized
	}
	for i, module := range modules {
		switch kind := module.Type[strings.LastIndexByte(module.Type, '.')+1:]; {
		case kind == "Transformer" && i == 0:
		case kind == "Pooling" && i == 1:
			pooling = module.Path
		case kind == "Normalize" && i > 1:
			r.normalization = Normalized
		default:
			return r, fmt.Errorf("modules.json: module %d is %q: want a Transformer, a Pooling and perhaps a Normalize", i, module.Type)
		}
	}
	if err := e.readPooling(pooling+"/config.json", &r); err != nil {
		return r, err
	}
	if e.Pooling != PoolingOfModel {
		r.pooling = e.Pooling
	}
	if e.Normalization != NormalizationOfModel {
		r.normalization = e.Normalization
	}
	if err := e.readPrefixes(&r); err != nil {
		return r, err
	}
	if r.skipsPrefix && r.prefixes != (Prefixes{}) {
		return r, fmt.Errorf("%s/config.json: include_prompt is false: want true, or no prefixes", pooling)
	}
	return r, nil
}

// readPooling reads which of the tokens' vectors make that of the text.
func (e *Embedder) readPooling(file string, r *recipe) error {
	var config map[string]any
	if _, err := e.decode(file, &config); err != nil {
		return err
	}
	r.skipsPrefix = config["include_prompt"] == false
	var modes []string
	for key, value := range config {
		mode, ok := strings.CutPrefix(key, "pooling_mode_")
		if ok && value == true {
			modes = append(modes, mode)
		}
	}
	if mode, ok := config["pooling_mode"].(string); ok {
		modes = append(modes, mode)
	}
	slices.Sort(modes)
	switch {
	case len(config) == 0 || e.Pooling != PoolingOfModel:
	case len(modes) == 1 && (modes[0] == "mean_tokens" || modes[0] == "mean"):
		r.pooling = MeanPooling
	case len(modes) == 1 && (modes[0] == "cls_token" || modes[0] == "cls"):
		r.pooling = CLSPooling
	default:
		return fmt.Errorf("%s: the model pools by %q: want mean_tokens or cls_token", file, modes)
	}
	return nil
}

// readPrefixes reads what stands before texts. The names are those that
// sentence-transformers looks for.
func (e *Embedder) readPrefixes(r *recipe) error {
	if e.Prefixes != nil {
		r.prefixes = *e.Prefixes
		return nil
	}
	var config struct {
		Prompts map[string]string
		Default string `json:"default_prompt_name"`
	}
	if _, err := e.decode("config_sentence_transformers.json", &config); err != nil {
		return err
	}
	prompt := func(names ...string) string {
		for _, name := range append(names, config.Default) {
			if p, ok := config.Prompts[name]; ok {
				return p
			}
		}
		return ""
	}
	r.prefixes = Prefixes{Query: prompt("query"), Passage: prompt("document", "passage", "corpus")}
	return nil
}

// decode reads a JSON file of the model, if there is one.
func (m Model) decode(file string, content any) (found bool, err error) {
	raw, err := os.ReadFile(filepath.Join(m.Dir, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(raw, content); err != nil {
		return false, fmt.Errorf("%s: %w", file, err)
	}
	return true, nil
}
