//go:build darwin && !ios

package onnx

var (
	libraryNames     = []string{"libonnxruntime.dylib", "libonnxruntime.1.dylib"}
	libraryVariables = []string{"DYLD_LIBRARY_PATH"}
	libraryDirs      = []string{"/usr/local/lib", "/opt/homebrew/lib"}
)
