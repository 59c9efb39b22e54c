// Package onnx runs embedding models and rerankers on this machine, from a folder
// with model.onnx and tokenizer.json: [Embedder] is a sentence-transformer, such as
// all-MiniLM-L6-v2, bge-small-en-v1.5 or e5-small-v2, [CrossEncoder] a reranker,
// such as ms-marco-MiniLM-L-6-v2 or bge-reranker-base. Nothing is sent anywhere,
// no key is needed, and the vectors are the same on every run on one machine.
//
// A folder with everything that is read:
//
//	hf download sentence-transformers/all-MiniLM-L6-v2 \
//		--include onnx/model.onnx '*.json' '1_Pooling/*' --local-dir all-MiniLM-L6-v2
//
// Models that nobody has exported yet become ONNX with Hugging Face's Optimum:
// optimum-cli export onnx --model NAME FOLDER.
//
// # What runs a model
//
//   - ONNX Runtime, 1.23 or later, where its shared library is found: in the field
//     Library, in the environment variable ORT_LIBRARY_PATH, each of which names
//     the file or its folder, or in LD_LIBRARY_PATH (DYLD_LIBRARY_PATH) or a usual
//     place such as /usr/local/lib. It is loaded at run time, by
//     github.com/shota3506/onnxruntime-purego, on Linux and macOS with 64 bits. It
//     comes from github.com/microsoft/onnxruntime/releases, or from npm:
//     npm install --ignore-scripts onnxruntime-node has it in bin/napi-v6.
//   - GoMLX, in pure Go, otherwise. There is nothing to install, but a model of
//     MiniLM's size takes some 30 times as long: on two cores about 350 ms for a
//     text of 128 tokens instead of 10. It takes twice the file's size in memory.
//     Use it for small corpora, or behind a cache of vectors.
//
// Both give the same vectors up to rounding: tests hold both against the same
// arithmetic in double precision, within 1e-5. The field Backend insists on one.
//
// No cgo is needed. On Linux and macOS a program that imports this package loads
// the system's C library all the same, so that one built with CGO_ENABLED=0 is no
// longer static. 32-bit systems cannot compile GoMLX.
//
// # What a text becomes
//
// A text, without white space at its ends, is tokenized as tokenizer.json says, by
// [tokens.ReadTokenizer]: WordPiece or Unigram, which leaves out the byte-pair
// encodings of RoBERTa and ModernBERT. It gets the special tokens of the file's
// post_processor. Its end is cut off after MaxTokens tokens, special ones included,
// or, if that is 0, after max_seq_length of sentence_bert_config.json,
// truncation.max_length of tokenizer.json or model_max_length of
// tokenizer_config.json, the first that there is, but never after more than
// max_position_embeddings of config.json; 512 if no file says anything. How many
// texts were cut off, and how many tokens the model has read, is in the
// evaluation's Diagnostics.Usage.
//
// The model needs an input input_ids, and may have attention_mask and
// token_type_ids. For an embedder its output is last_hidden_state, or else
// token_embeddings, or else the first one: a vector for each token, or one for the
// text, which is taken as it is. The text's vector is the mean of its tokens', or
// the first one, as 1_Pooling/config.json says, and has the length 1 if modules.json
// has a Normalize. Without these files it is the mean, normalised. So for a model
// that wants the first, as bge does, and a folder without them, set the field
// Pooling to [CLSPooling].
//
// # Queries and passages
//
// Some models want a prefix: E5 "query: " and "passage: ", bge (for English)
// "Represent this sentence for searching relevant passages: " before queries only.
// Most do not say so in their files, so set the field Prefixes. Prompts in
// config_sentence_transformers.json are used as sentence-transformers does: query
// before queries, the first of document, passage and corpus before passages, and
// that of default_prompt_name before what has none.
//
// # Errors
//
// Nothing is retried. Each error names the model's folder or name.
//
//	a field, a file or the library is missing   Validate, or the first call: what is missing and how to get it
//	a library is named, but cannot be used      the same: it is not replaced by pure Go
//	a library in a usual place is too old       the same: 1.23 is wanted
//	a file of the model cannot be used          the same: the file, what was found and what is wanted
//	a module is not Transformer, Pooling or     the same: the module; the model's file does not have it
//	  Normalize, or the pooling is another
//	a model fails on a text, gives numbers      the call: the text's index, or how many texts in the batch
//	  that are not finite, or another shape
//	the context is done                         the call: its cause, after the batch that is under way
//
// A file that is not a model is an error, as is a panic of a library. But a model
// is a program: one that was made to exhaust the memory does.
//
// Note: hugot v0.6.1, built on the same GoMLX, has pipelines for such models. It
// brings 28 modules and 23 MB to a binary where GoMLX and its reader of ONNX files
// bring 11 and 13. An interpreter of our own for BERT's operators would not be
// faster without assembly, and would lack the operators of the next exporter.
package onnx
