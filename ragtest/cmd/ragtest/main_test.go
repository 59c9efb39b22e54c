package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ragtest": main})
}

// TestScripts runs the scripts in testdata, in which the command ragtest is this one.
// In them, "code N ragtest …" runs it and wants the exit code N.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:  "testdata",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": wantCode},
	})
}

func wantCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [argument...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = strconv.Itoa(exit.ExitCode())
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// runInProcess runs a command, and returns the exit code and what it wrote.
func runInProcess(ctx context.Context, stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	e := &env{stdin: strings.NewReader(stdin), stdout: &out, stderr: &errs}
	code = run(ctx, e, args)
	return code, out.String(), errs.String()
}

func TestEveryCommandHasHelp(t *testing.T) {
	_, list, _ := runInProcess(t.Context(), "", "help")
	for _, again := range []string{"-h", "-help", "--help", "help"} {
		if code, told, errs := runInProcess(t.Context(), "", "help", again); code != exitOK || told != list || errs != "" {
			t.Errorf("ragtest help %s: exit code %d, stdout %q, stderr %q, want what ragtest help prints", again, code, told, errs)
		}
	}
	for _, c := range commands() {
		if !strings.Contains(list, c.summary) {
			t.Errorf("ragtest help does not list %s: %s", c.name, list)
		}
		code, byFlag, errs := runInProcess(t.Context(), "", c.name, "-h")
		if code != exitOK || errs != "" {
			t.Errorf("ragtest %s -h: exit code %d, stderr %q", c.name, code, errs)
		}
		_, byName, _ := runInProcess(t.Context(), "", "help", c.name)
		if byFlag != byName {
			t.Errorf("ragtest %s -h prints\n%s\nragtest help %s prints\n%s", c.name, byFlag, c.name, byName)
		}
		flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
		c.define(flags)
		flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" || !strings.Contains(byFlag, "-"+f.Name) {
				t.Errorf("ragtest %s -h does not explain -%s", c.name, f.Name)
			}
		})
	}
}

// The package comment gives the usage of commands as their help does.
func TestDocGivesUsage(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^// Usage:\n//\n//\tragtest ([a-z]+) ?(.*)$`).FindAllStringSubmatch(string(doc), -1)
	if len(found) < 3 {
		t.Fatalf("found the usage of %q only", found)
	}
	for _, usage := range found {
		i := slices.IndexFunc(commands(), func(c command) bool { return c.name == usage[1] })
		if i < 0 || commands()[i].usage != usage[2] {
			t.Errorf("doc.go says ragtest %s %s, which is no command's usage", usage[1], usage[2])
		}
	}
}

func TestParseFlags(t *testing.T) {
	for _, test := range []struct {
		args string
		want []string
		n    int
	}{
		{"-n 3 a b", []string{"a", "b"}, 3},
		{"a -n 3 b", []string{"a", "b"}, 3},
		{"a b -n=3", []string{"a", "b"}, 3},
		{"- -n 3 -", []string{"-", "-"}, 3},
		{"a -- -n 3", []string{"a", "-n", "3"}, 0},
		{"-- a -n 3", []string{"a", "-n", "3"}, 0},
		{"-n 3 --", nil, 3},
		{"", nil, 0},
	} {
		flags := flag.NewFlagSet("test", flag.ContinueOnError)
		n := flags.Int("n", 0, "")
		got, err := parseFlags(flags, strings.Fields(test.args))
		if err != nil || !slices.Equal(got, test.want) || *n != test.n {
			t.Errorf("parseFlags(%q) = %q, %v with n = %d, want %q, nil with n = %d", test.args, got, err, *n, test.want, test.n)
		}
	}
}

func TestExitCodes(t *testing.T) {
	returning := func(err error) command {
		return command{name: "test", define: func(*flag.FlagSet) runFunc {
			return func(context.Context, *env, []string) error { return err }
		}}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx    context.Context
		err    error
		want   int
		stderr string
	}{
		{t.Context(), nil, exitOK, ""},
		{t.Context(), errFound, exitFound, ""},
		{t.Context(), fmt.Errorf("comparing: %w", errFound), exitFound, ""},
		{t.Context(), misuse("no file"), exitError, "ragtest test: no file\nragtest test: see ragtest test -h\n"},
		{t.Context(), errors.Join(io.EOF, io.ErrShortWrite), exitError, "ragtest test: EOF\nragtest test: short write\n"},
		{t.Context(), fmt.Errorf("write: %w", syscall.EPIPE), exitOK, ""},
		{cancelled, nil, exitOK, ""},
		{cancelled, context.Canceled, exitInterrupted, "ragtest test: interrupted\n"},
	} {
		var stderr bytes.Buffer
		got := returning(test.err).main(test.ctx, &env{stdout: io.Discard, stderr: &stderr}, nil)
		if got != test.want || stderr.String() != test.stderr {
			t.Errorf("error %v: exit code %d, stderr %q, want %d, %q", test.err, got, stderr.String(), test.want, test.stderr)
		}
	}
}
