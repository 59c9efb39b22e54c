package langsmith

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/rageval/rageval/ragtest"
)

// tree is what version control says about the code under test.
type tree struct {
	commit, branch string // "": not known
	dirty          bool
}

// workingTree asks git, in the directory of the test: a test binary has no stamps of
// version control unless it is built with -buildvcs=true. Those are what is left where
// there is no git.
func workingTree(ctx context.Context) tree {
	if out, err := gitStatus(ctx); err == nil {
		return parseStatus(string(out))
	}
	var t tree
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				t.commit = s.Value
			case "vcs.modified":
				t.dirty = s.Value == "true"
			}
		}
	}
	return t
}

// gitStatus is replaced by tests.
var gitStatus = func(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", "status", "--porcelain=v2", "--branch")
	cmd.Env = append(os.Environ(), "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C") // it shall not write
	cmd.WaitDelay = time.Second
	return cmd.Output()
}

// parseStatus parses git status --porcelain=v2 --branch.
func parseStatus(out string) tree {
	var t tree
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		header, ok := strings.CutPrefix(line, "# ")
		if !ok {
			t.dirty = true
			continue
		}
		switch key, value, _ := strings.Cut(header, " "); {
		case key == "branch.oid" && value != "(initial)":
			t.commit = value
		case key == "branch.head" && value != "(detached)":
			t.branch = value
		}
	}
	if t.branch == "" { // Continuous integration checks out a commit.
		t.branch = environment("GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI_COMMIT_REF_NAME")
	}
	return t
}

// describe returns the metadata of an experiment, without those that are empty.
func describe(ctx context.Context, own map[string]string, result *ragtest.Result, t tree) map[string]string {
	c := result.Components
	always := map[string]string{
		"test":               ragtest.TestName(ctx),
		"name":               result.Name,
		"level":              result.Level,
		"k":                  strconv.Itoa(result.K),
		"chunks":             strconv.Itoa(result.Chunks),
		"chunker":            c.Chunker,
		"embedder":           c.Embedder,
		"store":              c.Store,
		"retriever":          c.Retriever,
		"reranker":           c.Reranker,
		"corpus_fingerprint": result.CorpusFingerprint,
		"go_version":         runtime.Version(),
		"git_commit":         t.commit,
		"git_branch":         t.branch,
	}
	if t.commit != "" {
		always["git_dirty"] = strconv.FormatBool(t.dirty)
	}
	maps.DeleteFunc(always, func(_, value string) bool { return value == "" })
	metadata := maps.Clone(own)
	if metadata == nil {
		metadata = map[string]string{}
	}
	maps.Copy(metadata, always)
	return metadata
}
