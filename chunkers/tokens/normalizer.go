package tokens

// normalizerJSON is a normalizer of a tokenizer.json.
type normalizerJSON struct {
	Type               string
	CleanText          bool  `json:"clean_text"`
	HandleChineseChars bool  `json:"handle_chinese_chars"`
	StripAccents       *bool `json:"strip_accents"` // nil: as Lowercase
	Lowercase          bool
}

// bert returns the settings of a BertNormalizer.
func (n *normalizerJSON) bert() bertRules {
	r := bertRules{
		cleans:           n.CleanText,
		separatesChinese: n.HandleChineseChars,
		stripsAccents:    n.Lowercase,
		lowers:           n.Lowercase,
	}
	if n.StripAccents != nil {
		r.stripsAccents = *n.StripAccents
	}
	return r
}

type preTokenizerJSON struct{ Type string }
