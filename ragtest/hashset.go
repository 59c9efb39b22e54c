package ragtest

// HashSet is a set of texts, known by the first 128 bits of their SHA-256.
type HashSet struct {
	Count  int `json:"count"`  // distinct texts
	Chunks int `json:"chunks"` // distinct chunk IDs of them
	Chars  int `json:"chars"`  // characters of the distinct texts
	// Entries are ascending hashes, each with the length of the text in characters. A
	// set may come without: then it joins no other, and only its counts are known.
	Entries []byte `json:"entries,omitempty"`
}
