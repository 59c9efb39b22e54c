package main

import (
	"flag"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/rageval/rageval/ragtest/cmd/ragtest/internal/sweepfile"
)

// TestExamplesInHelpParse parses the flags of every example in the help of a command.
func TestExamplesInHelpParse(t *testing.T) {
	for _, c := range commands() {
		_, examples, _ := strings.Cut(c.help, "\nExamples:\n")
		n := 0
		for line := range strings.SplitSeq(examples, "\n") {
			for part := range strings.SplitSeq(line, "|") {
				words := strings.Fields(part)
				if len(words) < 2 || words[0] != "ragtest" {
					continue
				}
				var args []string
				for _, w := range words[1:] {
					if w == "#" || strings.HasPrefix(w, ">") {
						break
					}
					args = append(args, strings.Trim(w, `'"`))
				}
				n++
				if args[0] != c.name {
					t.Errorf("%s: the example %q is one of another command", c.name, line)
					continue
				}
				flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
				flags.SetOutput(io.Discard)
				c.define(flags)
				if _, err := parseFlags(flags, args[1:]); err != nil {
					t.Errorf("%s: the example %q: %v", c.name, line, err)
				}
			}
		}
		if n == 0 && c.help != "" {
			t.Errorf("%s -h has no examples", c.name)
		}
	}
}

// TestSettingsInHelpParse reads the file of settings that ragtest sweep -h shows.
func TestSettingsInHelpParse(t *testing.T) {
	block := regexp.MustCompile(`(?m)^\tseed: 42\n(\t.*\n)+`).FindString(sweepHelp)
	s, err := sweepfile.Parse("sweep.yaml", []byte(regexp.MustCompile(`(?m)^\t`).ReplaceAllString(block, "")))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Configurations) != 2 || len(s.Configurations[1].Chunkers) != 2 || len(s.Embedders) != 2 {
		t.Errorf("got %+v", s)
	}
}
