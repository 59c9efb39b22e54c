package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/rageval/rageval/ragtest"
)

// places finds where the records of a collection are in its file.
type places struct {
	name string // file or folder
	form form
	in   *inputs
}

// file returns the file that holds the queries.
func (p places) file() string {
	if p.name != stdinName && isFolder(p.name) {
		switch p.form {
		case formChroma:
			return filepath.Join(p.name, "questions_df.csv")
		case formGolden:
			if file, _, err := goldenFiles(p.name); err == nil {
				return file
			}
		}
	}
	return p.name
}

var (
	lineNumber   = regexp.MustCompile(`^:(\d+)(?::(\d+))?: `)
	columnNumber = regexp.MustCompile(`\bcolumn (\d+)\b`)
	beirFile     = regexp.MustCompile(`\b((?:corpus|queries)\.jsonl(?:\.gz)?|qrels/[^:]+\.tsv(?:\.gz)?|questions_df\.csv):\d+`)
)

// malformed returns the finding that a reader's error is: "file:line: what is wrong",
// perhaps after what was being done.
func (p places) malformed(text string) finding {
	f := finding{File: p.file(), Kind: malformed, Detail: text}
	file := f.File
	if found := beirFile.FindStringSubmatch(text); found != nil && (p.form == formBEIR || p.form == formChroma) {
		file = found[1]
		f.File = filepath.Join(p.name, filepath.FromSlash(file))
	}
	at := strings.Index(text, file+":")
	if at < 0 {
		return f
	}
	rest := text[at+len(file):]
	number := lineNumber.FindStringSubmatch(rest)
	if number == nil {
		f.Detail = strings.TrimPrefix(rest, ": ")
		return f
	}
	f.Line, _ = strconv.Atoi(number[1])
	f.Column, _ = strconv.Atoi(number[2])
	f.Detail = rest[len(number[0]):]
	if column := columnNumber.FindStringSubmatch(f.Detail); column != nil && f.Column == 0 {
		f.Column, _ = strconv.Atoi(column[1])
	}
	return f
}

// position is where a record is; columns, in bytes, are 0 where a line is one record.
type position struct{ line, column int }

// queries returns the places of the queries, of those that are found.
func (p places) queries() (map[ragtest.QueryID]position, error) {
	file, err := p.in.Open(p.file())
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := unpacked(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.file(), err)
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", p.file(), err)
	}
	data = trimMark(data)
	switch p.form {
	case formGolden, formLangSmith:
		return recordLines(data, goldenID), nil
	case formNQ:
		return recordLines(data, nqID), nil
	case formChroma:
		return chromaLines(data), nil
	}
	return squadLines(data), nil
}

// recordLines returns the lines of the records of a JSON Lines file, the first of each ID.
func recordLines(data []byte, id func([]byte) ragtest.QueryID) map[ragtest.QueryID]position {
	lines := make(map[ragtest.QueryID]position)
	line := 0
	for text := range bytes.Lines(data) {
		line++
		if id := id(text); id != "" && lines[id].line == 0 {
			lines[id] = position{line: line}
		}
	}
	return lines
}

func goldenID(text []byte) ragtest.QueryID {
	var r struct {
		ID     json.RawMessage
		Inputs struct{ Query string }
		Meta   struct {
			ID    json.RawMessage `json:"queryId"`
			Snake json.RawMessage `json:"query_id"`
		} `json:"metadata"`
	}
	if json.Unmarshal(text, &r) != nil || r.Inputs.Query == "" {
		return ""
	}
	return firstID(r.Inputs.Query, r.Meta.ID, r.Meta.Snake, r.ID)
}

func nqID(text []byte) ragtest.QueryID {
	var r struct {
		ID       json.RawMessage `json:"example_id"`
		Question string          `json:"question_text"`
	}
	if json.Unmarshal(text, &r) != nil {
		return ""
	}
	return firstID(r.Question, r.ID)
}

// firstID returns the first ID that is given, a string or a number, else that of the text.
func firstID(text string, ids ...json.RawMessage) ragtest.QueryID {
	for _, id := range ids {
		var s string
		switch {
		case len(id) == 0 || string(id) == "null":
			continue
		case json.Unmarshal(id, &s) == nil && s != "":
			return ragtest.QueryID(s)
		case id[0] != '"':
			return ragtest.QueryID(id)
		}
	}
	return ragtest.NewQueryID(text)
}

// chromaLines returns the lines of the questions of a table.
func chromaLines(data []byte) map[ragtest.QueryID]position {
	lines := make(map[ragtest.QueryID]position)
	rows := csv.NewReader(bytes.NewReader(data))
	question := -1
	for {
		row, err := rows.Read()
		if err != nil {
			return lines
		}
		if question < 0 {
			for i, column := range row {
				if column == "question" {
					question = i
				}
			}
			if question < 0 {
				return lines
			}
			continue
		}
		id := ragtest.NewQueryID(row[question])
		if lines[id].line == 0 {
			line, column := rows.FieldPos(question)
			lines[id] = position{line, column}
		}
	}
}

// squadLines returns the places of the questions of a file of SQuAD: those of their id,
// and of their text for those that have none.
func squadLines(data []byte) map[ragtest.QueryID]position {
	lines := make(map[ragtest.QueryID]position)
	decoder := json.NewDecoder(bytes.NewReader(data))
	line, counted := 1, 0
	place := func(at int) position { // at is never less than before
		line += bytes.Count(data[counted:at], []byte("\n"))
		counted = at
		return position{line, at - bytes.LastIndexByte(data[:at], '\n')}
	}
	// Whether the next token is a key follows from what encloses it.
	type container struct{ object, key bool }
	var open []container
	key := ""
	for {
		at := int(decoder.InputOffset())
		for at < len(data) && strings.IndexByte(" \t\r\n,:", data[at]) >= 0 {
			at++
		}
		token, err := decoder.Token()
		if err != nil {
			return lines
		}
		if d, ok := token.(json.Delim); ok && (d == '}' || d == ']') {
			open = open[:len(open)-1]
			if len(open) > 0 {
				open[len(open)-1].key = true
			}
			key = ""
			continue
		}
		var top *container
		if len(open) > 0 {
			top = &open[len(open)-1]
		}
		if top != nil && top.object && top.key {
			key, _ = token.(string)
			top.key = false
			continue
		}
		if top != nil {
			top.key = true
		}
		if d, ok := token.(json.Delim); ok {
			open = append(open, container{object: d == '{', key: true})
			key = ""
			continue
		}
		var id ragtest.QueryID
		switch text, isText := token.(string); {
		case key == "id" && isText:
			id = ragtest.QueryID(text)
		case key == "id" && token != nil:
			id = ragtest.QueryID(fmt.Sprint(token))
		case key == "question" && isText:
			id = ragtest.NewQueryID(text)
		default:
			continue
		}
		if lines[id].line == 0 {
			lines[id] = place(at)
		}
	}
}
