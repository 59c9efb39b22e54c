package beam

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"unicode/utf8"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/sdf"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/rtrackers/offsetrange"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/rageval/rageval/spans"
)

func init() {
	sdk.RegisterType(reflect.TypeFor[corpusFile]())
	register.DoFn4x1[context.Context, *sdf.LockRTracker, corpusFile, func(Document), error](&readFn{})
	register.Emitter1[Document]()
}

// Corpus is a corpus in a pipeline, made by [Create], [Read] or, of documents from
// elsewhere, by hand.
type Corpus struct {
	Documents   sdk.PCollection // of Document; their IDs differ
	Fingerprint sdk.PCollection // of one string: see spans.Corpus.Fingerprint
	Bytes       int             // size, about; it decides the number of shards. 0: small
}

// Create returns a corpus that is in memory, for tests: it becomes part of the
// description of the pipeline. It has at least one document.
func Create(s sdk.Scope, c *spans.Corpus) (Corpus, error) {
	if c == nil || c.Len() == 0 {
		return Corpus{}, errors.New("creating a corpus in a pipeline: it has no document")
	}
	s = s.Scope("beam.Create")
	var docs []any
	size := 0
	for d := range c.All() {
		docs = append(docs, Document{Offset: len(docs), ID: string(d.ID()), Text: d.Text(), Metadata: d.Metadata()})
		size += len(d.Text())
	}
	return Corpus{sdk.Create(s, docs...), sdk.Create(s, c.Fingerprint()), size}, nil
}

// Read returns the corpus in the files that match any of the patterns, in order of
// their names, a JSON object a line, in the order of the lines:
//
//	{"_id":"handbook/leave.md","text":"…","title":"…","metadata":{"lang":"en"}}
//
// This is BEIR's corpus.jsonl; "id" may stand for "_id". The title, if there is one,
// becomes the first line of the document and part of its metadata, in which values that
// are not strings are their JSON text. Patterns are those of Beam's file
// systems, each of which, the local one too, needs its package imported.
//
// Files are read in parts of 64 MiB, but for file systems that cannot seek, where a
// part is read from the beginning of its file: there, files should not be much larger
// than that. Compressed files are not read.
//
// The fingerprint is computed by one worker that reads the corpus beside the others,
// in order of the documents' IDs. If that is the order of the corpus it needs little
// memory, else about 100 bytes for each document and an access to each in turn.
func Read(ctx context.Context, s sdk.Scope, patterns ...string) (Corpus, error) {
	s = s.Scope("beam.Read")
	files, err := list(ctx, patterns)
	if err != nil {
		return Corpus{}, err
	}
	size := 0
	for _, f := range files {
		size += f.Size
	}
	each := sdk.CreateList(s, files)
	return Corpus{
		Documents:   sdk.ParDo(s, &readFn{}, sdk.Reshuffle(s, each)),
		Fingerprint: sdk.ParDo(s, &fingerprintFn{Files: files}, sdk.Impulse(s)),
		Bytes:       size,
	}, nil
}

// Load returns the corpus that [Read] reads, for a sweep without Beam.
func Load(ctx context.Context, patterns ...string) (*spans.Corpus, error) {
	files, err := list(ctx, patterns)
	if err != nil {
		return nil, err
	}
	var docs []*spans.Document
	for _, f := range files {
		err := f.read(ctx, 0, bufferLen, all, func(d Document) error {
			doc, err := spans.NewDocument(spans.DocumentID(d.ID), d.Text, d.Metadata)
			docs = append(docs, doc)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return spans.NewCorpus(docs...)
}

// corpusFile is a file of the corpus.
type corpusFile struct {
	Number int // in the order of the corpus
	Path   string
	Size   int
}

func list(ctx context.Context, patterns []string) ([]corpusFile, error) {
	var files []corpusFile
	for _, pattern := range patterns {
		fs, err := filesystem.New(ctx, pattern)
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", pattern, err)
		}
		defer fs.Close()
		paths, err := fs.List(ctx, pattern)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", pattern, err)
		}
		if len(paths) == 0 {
			return nil, fmt.Errorf("listing %s: no file matches", pattern)
		}
		for _, path := range paths {
			size, err := fs.Size(ctx, path)
			if err != nil {
				return nil, fmt.Errorf("reading the size of %s: %w", path, err)
			}
			files = append(files, corpusFile{Path: path, Size: int(size)})
		}
	}
	slices.SortFunc(files, func(a, b corpusFile) int { return cmp.Compare(a.Path, b.Path) })
	files = slices.CompactFunc(files, func(a, b corpusFile) bool { return a.Path == b.Path })
	for i := range files {
		files[i].Number = i
	}
	if len(files) == 0 {
		return nil, errors.New("reading a corpus: no pattern is given")
	}
	return files, nil
}

// readFn reads the documents of a file. It can be split.
type readFn struct{}

func (*readFn) CreateInitialRestriction(f corpusFile) offsetrange.Restriction {
	return offsetrange.Restriction{Start: 0, End: int64(f.Size)}
}

// bufferLen is how many bytes are read at a time where all of a file is wanted.
const bufferLen = 1 << 20

func all(int) bool { return true }

// partLen is how many bytes of a file are read in one go.
const partLen = 64 << 20

func (*readFn) SplitRestriction(_ corpusFile, r offsetrange.Restriction) []offsetrange.Restriction {
	return r.SizedSplits(partLen)
}

func (*readFn) RestrictionSize(_ corpusFile, r offsetrange.Restriction) float64 { return r.Size() }

func (*readFn) CreateTracker(r offsetrange.Restriction) *sdf.LockRTracker {
	return sdf.NewLockRTracker(offsetrange.NewTracker(r))
}

func (*readFn) ProcessElement(ctx context.Context, tracker *sdf.LockRTracker, f corpusFile, emit func(Document)) error {
	part := tracker.GetRestriction().(offsetrange.Restriction)
	return f.read(ctx, int(part.Start), bufferLen, func(offset int) bool { return tracker.TryClaim(int64(offset)) }, func(d Document) error {
		emit(d)
		return nil
	})
}

// read calls visit with the document of each line that begins at start or after it, as
// long as claim agrees to where it begins. The last claim is to the end of the file. It
// reads as many bytes at a time as buffer says.
func (f corpusFile) read(ctx context.Context, start, buffer int, claim func(offset int) bool, visit func(Document) error) error {
	fs, err := filesystem.New(ctx, f.Path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.Path, err)
	}
	defer fs.Close()
	file, err := fs.OpenRead(ctx, f.Path)
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.Path, err)
	}
	defer file.Close()
	if err := skipTo(file, max(0, start-1)); err != nil {
		return fmt.Errorf("reading %s from byte %d on: %w", f.Path, start, err)
	}
	lines := bufio.NewReaderSize(file, buffer)
	offset := start
	if start > 0 { // The line that byte start-1 belongs to begins before start.
		rest, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading %s at byte %d: %w", f.Path, start, err)
		}
		offset += len(rest) - 1
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !claim(offset) || offset >= f.Size {
			return nil
		}
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading %s at byte %d: %w", f.Path, offset, err)
		}
		if len(line) == 0 {
			return fmt.Errorf("reading %s: it ends at byte %d, want %d: was it changed?", f.Path, offset, f.Size)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			d, err := parse(line)
			if err == nil {
				d.File, d.Offset = f.Number, offset
				err = visit(d)
			}
			if err != nil {
				return fmt.Errorf("%s: the line at byte %d: %w", f.Path, offset, err)
			}
		}
		offset += len(line)
	}
}

// skipTo skips to an offset, by reading if there is no other way.
func skipTo(file io.Reader, offset int) error {
	if s, ok := file.(io.Seeker); ok {
		_, err := s.Seek(int64(offset), io.SeekStart)
		return err
	}
	_, err := io.CopyN(io.Discard, file, int64(offset))
	return err
}

// record is a line of a file.
type record struct {
	BEIR     string                     `json:"_id"`
	ID       string                     `json:"id"`
	Title    string                     `json:"title"`
	Text     *string                    `json:"text"`
	Metadata map[string]json.RawMessage `json:"metadata"`
}

func parse(line []byte) (Document, error) {
	if !utf8.Valid(line) {
		return Document{}, errors.New("it is not valid UTF-8")
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return Document{}, err
	}
	id := cmp.Or(r.BEIR, r.ID)
	switch {
	case id == "":
		return Document{}, errors.New("field _id: missing or empty")
	case r.Text == nil:
		return Document{}, fmt.Errorf("document %s: field text: missing", id)
	}
	d := Document{ID: id, Text: *r.Text}
	if len(r.Metadata) > 0 || r.Title != "" {
		d.Metadata = map[string]string{}
	}
	for key, value := range r.Metadata {
		var text string
		if json.Unmarshal(value, &text) != nil {
			var compact bytes.Buffer
			if err := json.Compact(&compact, value); err != nil {
				return Document{}, fmt.Errorf("document %s: field metadata: %s: %w", id, key, err)
			}
			text = compact.String()
		}
		d.Metadata[key] = text
	}
	if r.Title != "" {
		d.Metadata["title"] = r.Title
		d.Text = r.Title
		if *r.Text != "" {
			d.Text += "\n" + *r.Text
		}
	}
	return d, nil
}
