package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"testing/fstest"
)

// stdinName is what standard input, given as "-", is called in errors.
const stdinName = "<stdin>"

// inputs opens files by the paths that a user gives, which an fs.FS of a folder would
// not take, so that errors have these paths. Reading ends with the context.
type inputs struct {
	ctx context.Context
	// held are standard input, and what else is no regular file, such as the pipe of
	// <(zcat x): they can be read once only.
	held map[string]fstest.MapFS
}

// name returns what the reader of a file is to be given for an argument.
func (in *inputs) name(e *env, arg string) (string, error) {
	if arg == "-" {
		return stdinName, in.hold(stdinName, e.stdin)
	}
	if info, err := os.Stat(arg); err != nil || info.IsDir() || info.Mode().IsRegular() {
		return arg, nil // that there is no such file, its reader says
	}
	file, err := os.Open(arg)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return arg, in.hold(arg, file)
}

// hold reads r as a whole, unless that was done.
func (in *inputs) hold(name string, r io.Reader) error {
	if in.held[name] != nil {
		return nil
	}
	var data []byte
	var err error
	done := make(chan struct{})
	go func() { // A read that waits for a terminal cannot be interrupted.
		defer close(done)
		data, err = io.ReadAll(r)
	}()
	select {
	case <-done:
	case <-in.ctx.Done():
		return in.ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	if in.held == nil {
		in.held = make(map[string]fstest.MapFS)
	}
	in.held[name] = fstest.MapFS{"data": {Data: data}}
	return nil
}

// Open implements fs.FS.
func (in *inputs) Open(name string) (fs.File, error) {
	if held := in.held[name]; held != nil {
		return held.Open("data")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return interruptible{f, in.ctx}, nil
}

// folder returns the files of a folder.
func (in *inputs) folder(dir string) fs.FS { return folder{os.DirFS(dir), in.ctx} }

type folder struct {
	fs.FS
	ctx context.Context
}

func (f folder) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if dir, ok := file.(fs.ReadDirFile); ok && err == nil {
		return interruptible{dir, f.ctx}, nil
	}
	return file, err
}

// interruptible is a file, reading which fails once the context is done.
type interruptible struct {
	fs.ReadDirFile
	ctx context.Context
}

func (f interruptible) Read(p []byte) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.ReadDirFile.Read(p)
}

func (f interruptible) ReadDir(n int) ([]fs.DirEntry, error) {
	if err := f.ctx.Err(); err != nil {
		return nil, err
	}
	return f.ReadDirFile.ReadDir(n)
}

// isFolder reports whether there is a folder at path.
func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// trimMark returns data without a byte order mark.
func trimMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }
