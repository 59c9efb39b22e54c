package onnx

import "testing"

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		field int
		files map[string]string
		want  limits
		err   string
	}{
		"nothing":  {0, map[string]string{"config.json": `{}`}, limits{maxTokens: 512}, ""},
		"config":   {0, nil, limits{maxTokens: 96}, ""},
		"RoBERTa":  {0, map[string]string{"config.json": `{"model_type": "xlm-roberta", "max_position_embeddings": 514, "pad_token_id": 1}`}, limits{maxTokens: 512, padding: 1}, ""},
		"sentence": {0, map[string]string{"sentence_bert_config.json": `{"max_seq_length": 64, "do_lower_case": true}`}, limits{maxTokens: 64, lower: true}, ""},
		"sentence above positions": {
			0, map[string]string{"sentence_bert_config.json": `{"max_seq_length": 512, "do_lower_case": false}`},
			limits{maxTokens: 96}, "",
		},
		"sentence null": {
			0, map[string]string{"sentence_bert_config.json": `{"max_seq_length": null}`, "tokenizer_config.json": `{"model_max_length": 80}`},
			limits{maxTokens: 80}, "",
		},
		"tokenizer": {
			0, map[string]string{"config.json": `{}`, "tokenizer.json": `{"truncation": {"max_length": 32}, "padding": {"pad_id": 3}}`, "tokenizer_config.json": `{"model_max_length": 80}`},
			limits{maxTokens: 32, padding: 3}, "",
		},
		"tokenizer null":        {0, map[string]string{"tokenizer.json": `{"truncation": null, "padding": null}`}, limits{maxTokens: 96}, ""},
		"tokenizer_config huge": {0, map[string]string{"tokenizer_config.json": `{"model_max_length": 1000000000000000019884624838656}`}, limits{maxTokens: 96}, ""},
		"field": {
			77, map[string]string{"sentence_bert_config.json": `{"max_seq_length": 64}`},
			limits{maxTokens: 77}, "",
		},
		"field above positions": {97, nil, limits{}, "field MaxTokens: got 97, but config.json says that the model reads at most 96 tokens"},
		"none":                  {0, map[string]string{"sentence_bert_config.json": `{"max_seq_length": 0}`}, limits{}, "reads at most 0 tokens: want at least 1"},
		"negative padding":      {0, map[string]string{"config.json": `{"pad_token_id": -1}`}, limits{}, "the ID of the token for padding is -1: want at least 0"},
		"no JSON":               {0, map[string]string{"sentence_bert_config.json": `[`}, limits{}, "sentence_bert_config.json: unexpected end of JSON input"},
	} {
		t.Run(name, func(t *testing.T) {
			m := Model{Dir: modelDir(t, newBERT(tiny), test.files), MaxTokens: test.field}
			got, err := m.limits()
			if test.err != "" {
				wantError(t, err, test.err)
			} else if err != nil || got != test.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, test.want)
			}
		})
	}
}

func TestRecipe(t *testing.T) {
	const (
		modules   = `[{"idx": 0, "path": "", "type": "sentence_transformers.models.Transformer"}, {"idx": 1, "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]`
		normalize = `[{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "pool", "type": "sentence_transformers.models.Pooling"}, {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]`
		dense     = `[{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}, {"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]`
		mean      = `{"word_embedding_dimension": 384, "pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}`
		cls       = `{"word_embedding_dimension": 384, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false, "include_prompt": true}`
		both      = `{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}`
		noPrompt  = `{"pooling_mode_mean_tokens": true, "include_prompt": false}`
	)
	for name, test := range map[string]struct {
		fields *Embedder
		files  map[string]string
		want   recipe
		err    string
	}{
		"no files":     {&Embedder{}, nil, recipe{pooling: MeanPooling, normalization: Normalized}, ""},
		"pooling only": {&Embedder{}, map[string]string{"1_Pooling/config.json": cls}, recipe{pooling: CLSPooling, normalization: Normalized}, ""},
		"MiniLM": {
			&Embedder{}, map[string]string{"modules.json": normalize, "pool/config.json": mean},
			recipe{pooling: MeanPooling, normalization: Normalized}, "",
		},
		"without Normalize": {
			&Embedder{}, map[string]string{"modules.json": modules, "1_Pooling/config.json": cls},
			recipe{pooling: CLSPooling, normalization: NotNormalized}, "",
		},
		"fields": {
			&Embedder{Pooling: MeanPooling, Normalization: Normalized}, map[string]string{"modules.json": modules, "1_Pooling/config.json": cls},
			recipe{pooling: MeanPooling, normalization: Normalized}, "",
		},
		"newer name":           {&Embedder{}, map[string]string{"1_Pooling/config.json": `{"pooling_mode": "cls"}`}, recipe{pooling: CLSPooling, normalization: Normalized}, ""},
		"two modes":            {&Embedder{}, map[string]string{"1_Pooling/config.json": both}, recipe{}, `1_Pooling/config.json: the model pools by ["cls_token" "mean_tokens"]: want mean_tokens or cls_token`},
		"two modes, but field": {&Embedder{Pooling: CLSPooling}, map[string]string{"1_Pooling/config.json": both}, recipe{pooling: CLSPooling, normalization: Normalized}, ""},
		"Dense":                {&Embedder{}, map[string]string{"modules.json": dense}, recipe{}, `modules.json: module 2 is "sentence_transformers.models.Dense": want a Transformer, a Pooling and perhaps a Normalize`},
		"prompt left out": {
			&Embedder{Prefixes: &Prefixes{Query: "q: "}}, map[string]string{"1_Pooling/config.json": noPrompt},
			recipe{}, "1_Pooling/config.json: include_prompt is false",
		},
		"no prompt": {
			&Embedder{}, map[string]string{"1_Pooling/config.json": noPrompt},
			recipe{pooling: MeanPooling, normalization: Normalized, skipsPrefix: true}, "",
		},
		"no JSON": {&Embedder{}, map[string]string{"modules.json": `{}`}, recipe{}, "modules.json: json: cannot unmarshal object"},
	} {
		t.Run(name, func(t *testing.T) {
			test.fields.Dir = modelDir(t, newBERT(tiny), test.files)
			got, err := test.fields.recipe()
			if test.err != "" {
				wantError(t, err, test.err)
			} else if err != nil || got != test.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, test.want)
			}
		})
	}
}
