package main

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/rageval/rageval/fixtures"
)

// ledger keeps what is worth knowing about a conversion, in order.
type ledger struct {
	notes []string
	lost  bool // more than was asked for
}

// lose notes how many of something are not in what is written, though nobody asked for
// that; nothing if none.
func (l *ledger) lose(n int, one, many, why string) {
	l.leaveOut(n, one, many, why)
	l.lost = l.lost || n > 0
}

// leaveOut notes how many of something are not in what is written because that was asked
// for; nothing if none.
func (l *ledger) leaveOut(n int, one, many, why string) {
	if n > 0 {
		l.notes = append(l.notes, fmt.Sprintf("lost: %s %s", counted(n, one, many), why))
	}
}

// note notes something that is no loss; nothing if n is 0.
func (l *ledger) note(n int, one, many, what string) {
	if n > 0 {
		l.notes = append(l.notes, fmt.Sprintf("note: %s %s", counted(n, one, many), what))
	}
}

// truth notes what reading a golden file found and changed.
func (l *ledger) truth(r fixtures.LoadReport) {
	l.note(r.Moved, "span", "spans", "found elsewhere than at the offsets in the file, by the text")
	l.note(r.Located, "span", "spans", "without offsets found by the text")
	l.note(r.Trusted, "span", "spans", "without text taken to be where the offsets say")
	l.leaveOut(len(r.Dropped), "span", "spans", "left out, for the corpus has no place for the text")
	l.leaveOut(len(r.DroppedQueries), "query", "queries", "left out, for all their spans were")
	if r.CorpusChanged {
		l.notes = append(l.notes, "note: the file was made for another state of the corpus; every span was verified in this one")
	}
}

// naturalQuestions notes what became of the answers of Natural Questions.
func (l *ledger) naturalQuestions(r fixtures.NaturalQuestionsReport) {
	reasons := r.Reasons()
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		l.lose(reasons[reason], "answer", "answers", fmt.Sprintf("rejected, for their place in the document is not certain (%s)", reason))
	}
	l.lose(len(r.Dropped), "query", "queries", "left out, for all their answers were rejected")
}

// print prints the ledger, each line after a prefix.
func (l *ledger) print(w io.Writer, prefix string) {
	for _, note := range l.notes {
		fmt.Fprintf(w, "%s%s\n", prefix, note)
	}
}

// counted returns a number with the noun in singular or plural.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
