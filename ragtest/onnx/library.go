package onnx

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// errNoLibrary says that nobody named ONNX Runtime's library and that it is in
// none of the usual places.
var errNoLibrary = errors.New("ONNX Runtime's shared library was not found")

// toGetLibrary says how to get the library.
const toGetLibrary = `download version 1.23 or later from github.com/microsoft/onnxruntime/releases, ` +
	`or run "npm install --ignore-scripts onnxruntime-node@1.24.3" (it is in bin/napi-v6), ` +
	`and set ORT_LIBRARY_PATH to it, or use the backend PureGo`

// findLibrary returns the path of ONNX Runtime's library: the file or folder
// that the field says, or else the environment variable ORT_LIBRARY_PATH, or
// else one of the usual places.
func findLibrary(field string) (string, error) {
	if len(libraryNames) == 0 {
		return "", fmt.Errorf("%w: it cannot be loaded on %s/%s; use the backend PureGo", errNoLibrary, runtime.GOOS, runtime.GOARCH)
	}
	if field != "" {
		return libraryAt("field Library", field)
	}
	if path := os.Getenv("ORT_LIBRARY_PATH"); path != "" {
		return libraryAt("ORT_LIBRARY_PATH", path)
	}
	var dirs []string
	for _, variable := range libraryVariables {
		dirs = append(dirs, filepath.SplitList(os.Getenv(variable))...)
	}
	for _, dir := range append(dirs, libraryDirs...) {
		if path, ok := libraryIn(dir); ok {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: %s", errNoLibrary, toGetLibrary)
}

// libraryAt returns the library that was named by source, a file or a folder.
func libraryAt(source, named string) (string, error) {
	path, err := filepath.Abs(named)
	if err != nil {
		return "", fmt.Errorf("%s is %q: %w", source, named, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("%s is %q: %w: %s", source, named, err, toGetLibrary)
	}
	if !info.IsDir() {
		return path, nil
	}
	if file, ok := libraryIn(path); ok {
		return file, nil
	}
	return "", fmt.Errorf("%s is %q, a folder that holds none of %q: %s", source, named, libraryNames, toGetLibrary)
}

// libraryIn returns the library in a folder; none if its path is relative.
func libraryIn(dir string) (string, bool) {
	if !filepath.IsAbs(dir) {
		return "", false
	}
	for _, name := range libraryNames {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	return "", false
}
