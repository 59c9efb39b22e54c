package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// goPackage is a folder that tests are to be written to.
type goPackage struct {
	dir      string            // absolute, without symbolic links as far as it exists
	name     string            // of the package that the test is in
	taken    map[string]string // the names that the files of that package declare, and where
	module   string            // "": there is none around
	root     string            // its folder
	requires bool              // the module requires the library, or is the library
}

// findPackage looks at the folder that -out names, which need not exist.
func findPackage(out string) (*goPackage, error) {
	abs, err := filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	p := &goPackage{dir: resolved(abs), taken: make(map[string]string)}
	if info, err := os.Stat(p.dir); err == nil && !info.IsDir() {
		return nil, misuse("-out is %s, which is not a folder", out)
	}
	if err := p.findModule(); err != nil {
		return nil, err
	}
	p.name = packageName(filepath.Base(p.dir)) + "_test"
	if !isFolder(p.dir) {
		return p, nil
	}
	// As go build sees the folder: what a build constraint excludes is no part of it.
	found, err := build.ImportDir(p.dir, 0)
	var none *build.NoGoError
	if err != nil && !errors.As(err, &none) {
		return nil, fmt.Errorf("reading the package in %s: %w", out, err)
	}
	if found.Name != "" {
		p.name = found.Name + "_test"
	}
	for _, name := range found.XTestGoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("reading the package in %s: %w", out, err)
		}
		for _, declared := range declared(file) {
			p.taken[declared] = name
		}
	}
	return p, nil
}

// resolved returns a path with the symbolic links of what exists of it followed.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolved(parent), filepath.Base(path))
}

// packageName makes the name of a package of that of a folder.
func packageName(base string) string {
	name := strings.ReplaceAll(fileName(base), "_", "")
	if token.IsKeyword(name) {
		name += "docs"
	}
	return name
}

// declared returns the names that a file declares at its top level.
func declared(file *ast.File) []string {
	var names []string
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				}
			}
		}
	}
	return names
}

// findModule looks for the go.mod that the folder belongs to.
func (p *goPackage) findModule() error {
	for dir := p.dir; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, "go.mod")
		data, err := os.ReadFile(path)
		if err == nil {
			file, err := modfile.ParseLax(path, data, nil)
			if err != nil {
				return fmt.Errorf("reading the module: %w", err)
			}
			if file.Module == nil {
				return fmt.Errorf("reading the module: %s: it has no module line", path)
			}
			p.module, p.root = file.Module.Mod.Path, dir
			p.requires = p.module == libraryModule || slices.ContainsFunc(file.Require, func(r *modfile.Require) bool { return r.Mod.Path == libraryModule })
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("reading the module: %w", err)
		}
		if filepath.Dir(dir) == dir {
			return nil
		}
	}
}

// check returns an error if a name of the test is taken.
func (p *goPackage) check(t *testTemplate) error {
	var bad []error
	for _, name := range t.names() {
		if file, ok := p.taken[name]; ok {
			bad = append(bad, fmt.Errorf("%s declares %s already: choose another -name", file, name))
		}
	}
	return errors.Join(bad...)
}
