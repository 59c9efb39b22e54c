//go:build !(linux && !android && (amd64 || arm64)) && !(darwin && !ios)

package onnx

// The binding cannot load a library on these systems.
var libraryNames, libraryVariables, libraryDirs []string

func openORT(library, path string) (session, error) {
	panic("unreachable: no library is found here")
}
