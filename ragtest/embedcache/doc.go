// Package embedcache keeps the vectors of an embedder in a file, so that a text is
// embedded once and for all: by whatever run, chunker or test asks for it first.
// What is recorded on a developer's machine and committed under testdata is replayed
// in CI without keys, network or cost.
//
//	e := embedcache.New(t, "testdata/small.embeddings", openai.Embedder{}, embedcache.Options{Model: "text-embedding-3-small"})
//
// # Modes
//
// By default a vector that the file lacks is embedded and added. With
// RAGTEST_REPLAY=1 in the environment, which is what CI sets, or [Options].Replay it
// is an error, which names the text and the command that records it. That command
// sets RAGTEST_UPDATE=1, as for golden files, which overrules both. Vectors that are
// in the file are never embedded anew: remove the file for that.
//
// # The file
//
// One file holds the vectors of one model. Its first line names the model, the
// encoding and the dimension; each further line holds one vector:
//
//	<SHA-256 of model, input type and text> <vector in base64> <CRC-32C of the line>
//
// No text is in it, and no key unless you put one into [Options].Model. It is a text
// file because it is meant to be committed: sorted by key, which [Cache.Record] and
// the end of a test with [New] see to, it depends on nothing but the texts and their
// vectors, a new text is one new line in a diff, and the additions of two branches
// merge. That costs a third more than binary numbers; decoding takes less time than
// hashing the texts. Line ends may be CRLF. If a merge keeps two vectors of one text,
// the first counts.
//
// A file is read once, front to back, and what others add is read when a text is
// missing. Its lines stay in memory while it is open.
//
// # Several processes, and crashes
//
// go test ./... runs one process per package, and any number may use one file.
// Records are appended with a single write, under a lock that the system takes from
// a process that dies (file.lock beside it, removed after use). Reading takes no lock
// and works where nothing can be written. A file that is rewritten is replaced by
// renaming, so that a reader has the old one or the new. Windows cannot do two of
// these: the lock's file stays there, and [Cache.Record] and [Cache.Prune] fail if
// another process reads at that moment.
//
// A process that dies while it writes leaves an incomplete record, of which the
// checksum tells. Readers pass over it, and the next writer cuts it off; all records
// before it are kept. Only a process that dies in the middle of Record or Prune leaves
// something else behind: the file as it was, and a .ragtest-*.tmp beside it. After a
// failure of the machine, what was added since the last [Cache.Close] may be missing
// or damaged.
//
// # Pruning
//
// [Cache.Prune] drops what this cache has not been asked for since it was opened. For
// a file that several tests or packages share, rename it to the same name with .old
// appended, and run all of them: what they ask for is taken over from there, without
// a call of the embedder, and what remains is what is needed.
//
//	mv testdata/small.embeddings testdata/small.embeddings.old
//	RAGTEST_UPDATE=1 go test ./... && rm testdata/small.embeddings.old
//
// # Faults
//
// Nothing is retried, except a read of a file that others are writing, and an attempt
// to lock: until the context is done, for a minute in Record and Prune.
//
//	what                                        result
//	an error of the embedder                    returned; batches that succeeded are kept
//	fewer or more vectors than texts            error naming the numbers and the first text without one
//	an empty, NaN or infinite vector            error naming the text and the component
//	a number beyond float16, with Float16       error naming the text and the component
//	another dimension than the file's           error naming the file and both
//	another model, encoding or input types      error of Open naming the file and both
//	a text that a replay lacks                  error naming the text, the file and the command
//	no file for a replay                        error of Open naming the file and the command
//	a file of another kind, a damaged header    error naming the file; it is never written to
//	a damaged record before a valid one         error naming the file, line and byte; never cut
//	a damaged or incomplete end                 passed over, cut by the next write; a miss mentions it
//	a full disk                                 error; the file is left as it was
//	a context that is done                      its cause
//
// Checksums tell accidents, not tampering.
package embedcache
