package chunkers

import (
	"fmt"
	"strings"

	"github.com/rageval/rageval/spans"
)

// hostileDocuments returns what chunkers stumble over, as documents whose IDs
// say what they are.
func hostileDocuments() ([]*spans.Document, error) {
	const megabyte = 1 << 20
	texts := []struct{ name, text string }{
		{"empty", ""},
		{"one-letter", "a"},
		{"one-rune-of-four-bytes", "😀"},
		{"one-space", " "},
		{"only-line-ends", strings.Repeat("\n", 300)},
		{"only-white-space", strings.Repeat(" \t\n\r\n\u00a0\u2003\u3000", 60)},
		{"only-separators", strings.Repeat("\n\n. \n, ", 80)},
		{"white-space-at-the-ends", "\n\n \tIn the middle.\n\nOf it all. \n\n"},
		// A JSON decoder replaces each lone surrogate, as in "\ud83d\n", by U+FFFD.
		{"lone-surrogates", strings.Repeat("Before\ufffd\ufffdafter. \ufffd\n\ufffd", 60)},
		{"combining-marks", strings.Repeat("e\u0301a\u0308\u0323 n\u0303o\u0302. ", 90) + "z" + strings.Repeat("\u0335", 500)},
		{"emoji", strings.Repeat("👩\u200d👩\u200d👧\u200d👦👍🏽🏳️\u200d🌈🇪🇺 ", 50)},
		{"crlf", strings.Repeat("A line.\r\nAnother one.\r\n\r\n", 60)},
		{"nul-bytes", strings.Repeat("\x00a\x00\x00b. \x00\n", 80)},
		{"byte-order-mark", "\ufeff" + strings.Repeat("Text after a \ufeff mark. ", 40)},
		{"right-to-left", strings.Repeat("שלום עולם. مرحبا بالعالم.\n", 40)},
		{"no-spaces-between-words", strings.Repeat("吾輩は猫である。名前はまだ無い。", 60)},
		{"same-line-repeated", strings.Repeat("All rights reserved.\n", 1500)},
		{"no-separator", strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789", megabyte/36)},
		{"one-letter-repeated", strings.Repeat("a", 100_000)},
		{"long-lines", strings.Repeat(strings.Repeat("a few words and ", 5_000)+"an end.\n", 3)},
	}
	var docs []*spans.Document
	for _, t := range texts {
		doc, err := spans.NewDocument(spans.DocumentID("hostile/"+t.name), t.text, nil)
		if err != nil {
			return nil, fmt.Errorf("preparing the inputs of Check: %w", err)
		}
		docs = append(docs, doc)
	}
	return docs, nil
}
