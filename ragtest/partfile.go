package ragtest

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/rageval/rageval/internal/wholefile"
)

const partSchemaVersion = 1

// partFields has the fields of TokenPart without its methods.
type partFields TokenPart

type versionedPart struct {
	SchemaVersion int `json:"schemaVersion"`
	partFields
}

// MarshalJSON returns the JSON form of p.
func (p TokenPart) MarshalJSON() ([]byte, error) {
	return json.Marshal(versionedPart{partSchemaVersion, partFields(p)})
}

// UnmarshalJSON reads what MarshalJSON returned. A schema version that is missing or
// unknown is an error, and so is what contradicts itself.
func (p *TokenPart) UnmarshalJSON(data []byte) error {
	var read versionedPart
	if err := json.Unmarshal(data, &read); err != nil {
		return fmt.Errorf("reading a part: %w", err)
	}
	if read.SchemaVersion != partSchemaVersion {
		return fmt.Errorf("reading a part: schemaVersion: got %d, want %d", read.SchemaVersion, partSchemaVersion)
	}
	got := TokenPart(read.partFields)
	if err := got.check(); err != nil {
		return fmt.Errorf("reading a part: %w", err)
	}
	*p = got
	return nil
}

// Write writes the JSON form to a file, which is complete at any moment, old or new.
func (p *TokenPart) Write(path string) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("writing a part to %s: %w", path, err)
	}
	return wholefile.Write(path, append(data, '\n'))
}

// ReadTokenPart reads a file that [TokenPart.Write] wrote.
func ReadTokenPart(path string) (*TokenPart, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a part: %w", err)
	}
	var p TokenPart
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &p, nil
}
