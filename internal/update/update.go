// Package update knows how a user asks for golden files to be written anew, and
// what to tell one who should.
package update

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// Env is the environment variable that asks for golden files to be written anew.
const Env = "RAGTEST_UPDATE"

// Switch reads an environment variable that is on or off: 1 or true, 0 or false or
// nothing. Anything else is an error.
func Switch(env string) (bool, error) {
	switch v := os.Getenv(env); v {
	case "", "0", "false":
		return false, nil
	case "1", "true":
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q: want 1, true, 0, false or nothing", env, v)
	}
}

// Command is the shell command that runs tb alone and updates its golden files,
// from anywhere in the module; without a tb, it runs all tests of the package.
func Command(tb testing.TB) string {
	run := ""
	if tb != nil {
		elems := strings.Split(tb.Name(), "/")
		for i, e := range elems {
			elems[i] = "^" + regexp.QuoteMeta(e) + "$"
		}
		run = "-run " + shellQuote(strings.Join(elems, "/")) + " "
		if _, ok := tb.(*testing.B); ok {
			run = "-run '^$' -bench " + shellQuote(strings.Join(elems, "/")) + " "
		}
	}
	dir, err := os.Getwd() // go test runs a test in the folder of its package
	if err != nil {
		dir = "."
	}
	if strings.ContainsFunc(dir, func(r rune) bool {
		return !strings.ContainsRune("/._-+@:abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", r)
	}) {
		dir = shellQuote(dir)
	}
	return fmt.Sprintf("%s=1 go test %s%s", Env, run, dir)
}

// shellQuote quotes s for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
