package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/rageval/rageval/internal/progress"
)

// Exit codes, as the package comment documents them.
const (
	exitOK          = 0
	exitFound       = 1
	exitError       = 2
	exitInterrupted = 130
)

// errFound is what a command returns if it did its work and has told what it found:
// findings, regressions. Nothing is printed for it, and the exit code is exitFound.
var errFound = errors.New("found something")

// usageError is a mistake in the arguments. It is printed with a hint at -h.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// misuse returns a usageError.
func misuse(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// env is what a command reads and writes.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	terminal       bool // stderr is a terminal, where progress may be drawn
}

// runFunc does the work of a command, whose flags were parsed; args are what is not
// a flag. Errors are printed by the caller, each line after "ragtest NAME: ".
type runFunc func(ctx context.Context, e *env, args []string) error

// command is a subcommand.
type command struct {
	name    string
	summary string // one line, for the list of commands
	usage   string // what follows the name in the synopsis: "[flags] FILE..."
	help    string // what the command does, and examples; its flags are printed between usage and help
	// define defines the flags and returns what runs once they are parsed.
	define func(flags *flag.FlagSet) runFunc
}

// commands are all subcommands but help, in the order of the list that help prints.
func commands() []command {
	return []command{
		initCommand,
		lintCommand,
		convertCommand,
		sweepCommand,
		reportCommand,
		compareCommand,
		versionCommand,
	}
}

func main() {
	os.Exit(runMain())
}

func runMain() int {
	// After the first interrupt, a second one kills the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	e := &env{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, terminal: progress.Terminal(os.Stderr)}
	return run(ctx, e, os.Args[1:])
}

// run runs the command that args name, and returns the exit code.
func run(ctx context.Context, e *env, args []string) int {
	all := commands()
	if len(args) == 0 {
		printCommands(e.stderr, all)
		return exitError
	}
	name, args := args[0], args[1:]
	switch name {
	case "-h", "-help", "--help", "help":
		if len(args) > 0 && slices.Contains([]string{"help", "-h", "-help", "--help"}, args[0]) {
			args = nil // which commands there are is all the help there is about help
		}
		return runHelp(e, all, args)
	case "-version", "--version":
		name = "version"
	}
	i := slices.IndexFunc(all, func(c command) bool { return c.name == name })
	if i < 0 {
		fmt.Fprintf(e.stderr, "ragtest: unknown command %q: see ragtest help\n", name)
		return exitError
	}
	return all[i].main(ctx, e, args)
}

func runHelp(e *env, all []command, args []string) int {
	if len(args) == 0 {
		return finish(e, "help", printCommands(e.stdout, all))
	}
	i := slices.IndexFunc(all, func(c command) bool { return c.name == args[0] })
	if i < 0 {
		fmt.Fprintf(e.stderr, "ragtest help: unknown command %q: see ragtest help\n", args[0])
		return exitError
	}
	flags := flag.NewFlagSet(all[i].name, flag.ContinueOnError)
	all[i].define(flags)
	return finish(e, "help", all[i].printHelp(e.stdout, flags))
}

func printCommands(w io.Writer, all []command) error {
	var b strings.Builder
	b.WriteString("ragtest prepares, runs and reports tests of retrieval.\n\nUsage:\n\n\tragtest COMMAND [flags] [arguments]\n\nCommands:\n\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t%-9s %s\n", c.name, c.summary)
	}
	b.WriteString("\nragtest COMMAND -h, or ragtest help COMMAND, tells more about one.\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// printHelp prints the usage, the flags and the help of a command.
func (c command) printHelp(w io.Writer, flags *flag.FlagSet) error {
	var b strings.Builder
	fmt.Fprintf(&b, "ragtest %s: %s\n\nUsage:\n\n\t%s\n", c.name, c.summary, strings.TrimSpace("ragtest "+c.name+" "+c.usage))
	var list strings.Builder
	flags.SetOutput(&list)
	flags.PrintDefaults()
	if list.Len() > 0 {
		fmt.Fprintf(&b, "\nFlags:\n\n%s", list.String())
	}
	if help := strings.TrimSpace(c.help); help != "" {
		fmt.Fprintf(&b, "\n%s\n", help)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// main parses the flags and runs the command.
func (c command) main(ctx context.Context, e *env, args []string) int {
	flags := flag.NewFlagSet(c.name, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	work := c.define(flags)
	rest, err := parseFlags(flags, args)
	if errors.Is(err, flag.ErrHelp) {
		return finish(e, c.name, c.printHelp(e.stdout, flags))
	}
	if err == nil {
		err = work(ctx, e, rest)
	}
	if cause := ctx.Err(); cause != nil && err != nil && !errors.Is(err, errFound) {
		fmt.Fprintf(e.stderr, "ragtest %s: interrupted\n", c.name)
		return exitInterrupted
	}
	return finish(e, c.name, err)
}

// parseFlags parses flags before, between and after the other arguments, which it
// returns. What follows "--" is no flag.
func parseFlags(flags *flag.FlagSet, args []string) (rest []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				return nil, err
			}
			return nil, usageError{err}
		}
		parsed := args[:len(args)-flags.NArg()]
		args = flags.Args()
		if len(args) == 0 {
			return rest, nil
		}
		if len(parsed) > 0 && parsed[len(parsed)-1] == "--" {
			return append(rest, args...), nil
		}
		rest, args = append(rest, args[0]), args[1:]
	}
}

// finish prints err and returns the exit code for it. A reader that closed its end of
// a pipe has what it wants.
func finish(e *env, name string, err error) int {
	var wrong usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(e.stderr, "ragtest %s: %s\n", name, line)
	}
	if errors.As(err, &wrong) {
		fmt.Fprintf(e.stderr, "ragtest %s: see ragtest %s -h\n", name, name)
	}
	return exitError
}
