// Package sweepfile reads the settings of a sweep from a YAML file, strictly: a key
// that is unknown or there twice, a value of the wrong type or out of range, and what
// is no YAML are errors that say where, what was found and what was expected:
//
//	sweep.yaml:7:5: key "configurations.large": found the key "szie", want one of chunker, embedders and, for recursive, size, overlap, …
//
// All of them are listed, unless the file is no YAML at all. Lines and columns count
// from 1, columns in characters.
//
//	seed: 42
//	data_path: data/squad-v2.0.json
//	k_values: [1, 3, 5]
//	output_dir: out
//	embedders: [lexical, bm25]
//	configurations:
//	  small: recursive/size=200
//	  large:
//	    chunker: recursive
//	    size: [400, 800]
//	    overlap: 100
//	    embedders: [lexical]
package sweepfile
