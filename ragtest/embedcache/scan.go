package embedcache

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// position is a place between two lines of a file.
type position struct {
	offset int64 // bytes before it
	line   int   // lines before it
}

// damage is a line that is not what was written.
type damage struct {
	at    position // where the line begins
	wrong string
}

func (d *damage) String() string {
	return fmt.Sprintf("line %d, at byte %d: %s", d.at.line+1, d.at.offset, d.wrong)
}

// scan reads the lines of a file. Damage is told by what follows it. If a valid
// record does, the file was changed by other means, which is an error. If none
// does, a write was cut short, or is not complete yet: what follows the last valid
// line is the tail.
type scan struct {
	head header   // known once pos is past the header
	pos  position // after the last valid line
	tail *damage  // the first line of the tail; nil: none
}

// read reads r, which begins at s.pos and has about size bytes, to its end. It
// passes records on to visit, which may keep the vectors.
func (s *scan) read(r io.Reader, size int64, visit func(k key, vector []byte)) error {
	lines := lineReader{r: r, size: size}
	next := s.pos
	s.tail = nil
	for {
		line, n, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		begin := next
		next.offset += n
		next.line++
		wrong := ""
		switch {
		case begin.offset == 0:
			if wrong, err = s.header(line); err != nil {
				return err
			}
		case line == nil:
			wrong = "the line is too long"
		case line[len(line)-1] != '\n':
			wrong = "the line is not complete"
		default:
			var k key
			var vector []byte
			if k, vector, wrong = parseRecord(line, s.head); wrong == "" && s.tail == nil {
				visit(k, vector)
			}
		}
		switch {
		case wrong == "" && s.tail != nil:
			return fmt.Errorf("%v; valid records follow, so that this is not a write that was cut short: restore the file, or delete the line", s.tail)
		case wrong == "":
			s.pos = next
		case s.tail == nil:
			s.tail = &damage{begin, wrong}
		}
	}
}

// header takes the first line of a file. Unlike a record, one that is wrong is an
// error, for the file may be something else altogether; except where it may have
// been cut short.
func (s *scan) header(line []byte) (wrong string, err error) {
	if line == nil {
		return "", fmt.Errorf("not an embedding cache: the first line is too long")
	}
	if line[len(line)-1] != '\n' && (strings.HasPrefix(magic, string(line)) || bytes.HasPrefix(line, []byte(magic+" "))) {
		return "the header is not complete", nil
	}
	s.head, err = parseHeader(line)
	return "", err
}

const (
	blockSize = 4 << 20
	// maxLine is the length of the longest line that can be valid, and more.
	maxLine = 6*maxDim + 256
)

// lineReader reads lines out of large blocks, which the lines remain part of.
type lineReader struct {
	r    io.Reader
	size int64  // bytes that r is expected to hold
	rest []byte // read and not yet returned
	err  error  // of r
}

// next returns a line with its newline, which only the last may lack, and its
// length. The line is nil if it is longer than maxLine.
func (l *lineReader) next() (line []byte, n int64, err error) {
	searched := 0
	for {
		if i := bytes.IndexByte(l.rest[searched:], '\n'); i >= 0 {
			end := searched + i + 1
			line, l.rest = l.rest[:end:end], l.rest[end:]
			break
		}
		if l.err == io.EOF {
			line, l.rest = l.rest, nil
			break
		}
		if l.err != nil {
			return nil, 0, l.err
		}
		searched = len(l.rest)
		if n+int64(searched) > maxLine { // too long: go on to its end without keeping it
			n += int64(searched)
			l.rest, searched = nil, 0
		}
		l.fill()
	}
	n += int64(len(line))
	switch {
	case n == 0:
		return nil, 0, io.EOF
	case n > maxLine:
		return nil, n, nil
	}
	return line, n, nil
}

// fill reads one block more.
func (l *lineReader) fill() {
	more := max(int(min(l.size, blockSize)), len(l.rest), 512)
	block := make([]byte, len(l.rest), len(l.rest)+more)
	copy(block, l.rest)
	n, err := io.ReadFull(l.r, block[len(block):cap(block)])
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	l.size -= int64(n)
	l.rest, l.err = block[:len(block)+n], err
}
