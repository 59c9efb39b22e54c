package llm

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/rageval/rageval/internal/excerpt"
	"github.com/rageval/rageval/ragtest/llm"
)

const answerSchema = `{"type":"object","properties":{"split_after":{"type":"array","items":{"type":"integer"}}},"required":["split_after"],"additionalProperties":false}`

var (
	splitAfter = regexp.MustCompile(`(?i)split_after`)
	// What may stand around the list: quotes, and Markdown's emphasis and code.
	splitList = regexp.MustCompile("(?i)split_after[\"'`*]*\\s*:\\s*[\"'`*]*([^\\n]*)")
)

// parseAnswer returns the units, of n and counted from 1, that an answer splits
// after. It takes the JSON that was asked for, in a code block or between other
// words too, and a line such as "split_after: 3, 5", which models write that
// know the report's prompt. The error says, for the model to read, why an answer
// is invalid.
func parseAnswer(r llm.Response, n int) ([]int, error) {
	if r.FinishReason == llm.FinishLength {
		return nil, errors.New("it was cut off before its end")
	}
	if strings.TrimSpace(r.Text) == "" {
		if r.FinishReason == llm.FinishContentFilter {
			return nil, errors.New("it was withheld")
		}
		return nil, errors.New("it was empty")
	}
	if found := len(splitAfter.FindAllStringIndex(r.Text, -1)); found != 1 {
		return nil, fmt.Errorf("it says split_after %d times, where once is wanted: %s", found, quoteStart(r.Text))
	}
	match := splitList.FindStringSubmatchIndex(r.Text)
	if match == nil {
		return nil, fmt.Errorf("it has no list after split_after: %s", quoteStart(r.Text))
	}
	list := r.Text[match[2]:match[3]]
	if strings.HasPrefix(list, "[") {
		inner, _, closed := strings.Cut(r.Text[match[2]+1:], "]") // may span lines
		if !closed {
			return nil, fmt.Errorf("its list has no end: %s", quoteStart(list))
		}
		list = inner
	} else {
		list = strings.TrimRight(list, " \t\r.}\"'`*")
		if strings.EqualFold(list, "none") {
			list = ""
		}
	}
	return parseList(list, n)
}

func parseList(list string, n int) ([]int, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	var splits []int
	last := 0
	for field := range strings.SplitSeq(list, ",") {
		word := strings.TrimSpace(field)
		number, err := strconv.Atoi(word)
		switch {
		case errors.Is(err, strconv.ErrRange), err == nil && (number < 1 || number >= n):
			return nil, fmt.Errorf("%s is not from 1 to %d", quoteStart(word), n-1)
		case err != nil:
			return nil, fmt.Errorf("%s is not a whole number", quoteStart(word))
		case number <= last:
			return nil, fmt.Errorf("%d comes after %d, where increasing numbers are wanted", number, last)
		}
		splits = append(splits, number)
		last = number
	}
	return splits, nil
}

// quoteStart quotes the first characters of what a model said.
func quoteStart(s string) string { return excerpt.Quote(s, 60) }
