package main

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
)

var versionCommand = command{
	name:    "version",
	summary: "print the version of ragtest and of Go",
	define: func(*flag.FlagSet) runFunc {
		return func(_ context.Context, e *env, args []string) error {
			if len(args) > 0 {
				return misuse("found the argument %q, want none", args[0])
			}
			_, err := fmt.Fprintf(e.stdout, "ragtest %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}
	},
}

// version returns the version of the module, "(devel)" if it is not known.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
