package beam

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// The elements of the pipeline's collections. Each has its own binary form, which is
// several times as short and fast as the JSON that Beam would use.
func init() {
	sdk.RegisterCoder(reflect.TypeFor[Document](), encodeDocument, decodeDocument)
	sdk.RegisterCoder(reflect.TypeFor[occurrence](), encodeOccurrence, decodeOccurrence)
	sdk.RegisterCoder(reflect.TypeFor[tally](), encodeTally, decodeTally)
	sdk.RegisterCoder(reflect.TypeFor[ranking](), encodeRanking, decodeRanking)
	sdk.RegisterCoder(reflect.TypeFor[vectors](), encodeVectors, decodeVectors)
	sdk.RegisterCoder(reflect.TypeFor[wanted](), encodeWanted, decodeWanted)
}

// Document is a document of the corpus. Its place in the order of the corpus, by which
// equal scores are ranked, is that of File, then of Offset: two documents have
// different ones.
type Document struct {
	File, Offset int // 0 or more, such as the number of a file and a position in it
	ID, Text     string
	Metadata     map[string]string // may be nil
}

func (d Document) place() place { return place{d.File, d.Offset} }

// place is the place of a document in the order of the corpus.
type place struct{ file, offset int }

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.file, q.file), cmp.Compare(p.offset, q.offset))
}

func encodeDocument(d Document) []byte {
	var w writer
	w.place(d.place())
	w.text(d.ID)
	w.text(d.Text)
	w.number(len(d.Metadata))
	for _, key := range slices.Sorted(maps.Keys(d.Metadata)) {
		w.text(key)
		w.text(d.Metadata[key])
	}
	return w.data
}

func decodeDocument(data []byte) (Document, error) {
	r := reader{data: data}
	p := r.place()
	d := Document{File: p.file, Offset: p.offset, ID: r.text(), Text: r.text()}
	for range r.count() {
		if d.Metadata == nil {
			d.Metadata = map[string]string{}
		}
		key := r.text()
		d.Metadata[key] = r.text()
	}
	return d, r.done()
}

// chunkPlace is the place of a chunk among all that one chunker made.
type chunkPlace struct {
	doc   place
	index int // among the chunks of the document
}

func (p chunkPlace) compare(q chunkPlace) int {
	return cmp.Or(p.doc.compare(q.doc), cmp.Compare(p.index, q.index))
}

// occurrence is a chunk on its way to those of the same text.
type occurrence struct {
	chunker int // of the sweep
	at      chunkPlace
	text    string
}

func encodeOccurrence(o occurrence) []byte {
	var w writer
	w.number(o.chunker)
	w.place(o.at.doc)
	w.number(o.at.index)
	w.text(o.text)
	return w.data
}

func decodeOccurrence(data []byte) (occurrence, error) {
	r := reader{data: data}
	o := occurrence{chunker: r.number(), at: chunkPlace{r.place(), r.number()}, text: r.text()}
	return o, r.done()
}

// hit is a chunk that was found for a query.
type hit struct {
	score float32
	at    chunkPlace
	hash  uint64 // of its text
}

// compare orders hits best first; none are equal.
func (h hit) compare(g hit) int {
	return cmp.Or(cmp.Compare(g.score, h.score), h.at.compare(g.at))
}

// ranking are the best hits of a query, best first.
type ranking struct{ hits []hit }

func encodeRanking(l ranking) []byte {
	var w writer
	w.number(len(l.hits))
	for _, h := range l.hits {
		w.float32(h.score)
		w.place(h.at.doc)
		w.number(h.at.index)
		w.number(int(h.hash))
	}
	return w.data
}

func decodeRanking(data []byte) (ranking, error) {
	r := reader{data: data}
	l := ranking{make([]hit, 0, r.count())}
	for range cap(l.hits) {
		l.hits = append(l.hits, hit{r.float32(), chunkPlace{r.place(), r.number()}, uint64(r.number())})
	}
	return l, r.done()
}

// vectors are those of all queries, by one embedder.
type vectors struct {
	embedder int
	of       [][]float32
}

func encodeVectors(v vectors) []byte {
	var w writer
	w.number(v.embedder)
	w.number(len(v.of))
	for _, x := range v.of {
		w.number(len(x))
		for _, c := range x {
			w.float32(c)
		}
	}
	return w.data
}

func decodeVectors(data []byte) (vectors, error) {
	r := reader{data: data}
	v := vectors{embedder: r.number()}
	v.of = make([][]float32, r.count())
	for i := range v.of {
		v.of[i] = make([]float32, r.count())
		for j := range v.of[i] {
			v.of[i][j] = r.float32()
		}
	}
	return v, r.done()
}

// wanted are the documents that scoring needs, sorted: those of hits by their places,
// those with relevant text by their IDs.
type wanted struct {
	places []place
	ids    []string
}

func encodeWanted(x wanted) []byte {
	var w writer
	w.number(len(x.places))
	for _, p := range x.places {
		w.place(p)
	}
	w.number(len(x.ids))
	for _, id := range x.ids {
		w.text(id)
	}
	return w.data
}

func decodeWanted(data []byte) (wanted, error) {
	r := reader{data: data}
	x := wanted{places: make([]place, r.count())}
	for i := range x.places {
		x.places[i] = r.place()
	}
	x.ids = make([]string, r.count())
	for i := range x.ids {
		x.ids[i] = r.text()
	}
	return x, r.done()
}

// tally is what a chunker did with part of the corpus.
type tally struct {
	chunks, empty, skipped int
	texts, chars           int    // distinct texts, and their characters
	first                  string // describes the first skipped chunk,
	firstIn                place  // of this document
}

func encodeTally(t tally) []byte {
	var w writer
	for _, n := range []int{t.chunks, t.empty, t.skipped, t.texts, t.chars} {
		w.number(n)
	}
	w.text(t.first)
	w.place(t.firstIn)
	return w.data
}

func decodeTally(data []byte) (tally, error) {
	r := reader{data: data}
	t := tally{chunks: r.number(), empty: r.number(), skipped: r.number(), texts: r.number(), chars: r.number(), first: r.text(), firstIn: r.place()}
	return t, r.done()
}

// addTallies returns what the chunker did with both parts.
func addTallies(a, b tally) tally {
	if a.first == "" || b.first != "" && b.firstIn.compare(a.firstIn) < 0 {
		a.first, a.firstIn = b.first, b.firstIn
	}
	a.chunks += b.chunks
	a.empty += b.empty
	a.skipped += b.skipped
	a.texts += b.texts
	a.chars += b.chars
	return a
}
