//go:build linux && !android && (amd64 || arm64)

package onnx

var (
	libraryNames     = []string{"libonnxruntime.so", "libonnxruntime.so.1"}
	libraryVariables = []string{"LD_LIBRARY_PATH"}
	libraryDirs      = []string{
		"/usr/local/lib", "/usr/local/lib64", "/usr/lib", "/usr/lib64",
		"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/opt/onnxruntime/lib",
	}
)
