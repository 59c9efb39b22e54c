package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// tables turns paragraphs into tables by the rules of GitHub Flavored Markdown,
// §4.10: a header row, a delimiter row of as many cells, and rows. The lines of
// such a table are its rows.
//
// Note: goldmark's own transformer pads every row to the width of the table,
// and so takes memory quadratic in a text.
type tables struct{}

func (tables) Transform(node *ast.Paragraph, reader text.Reader, _ parser.Context) {
	lines := node.Lines()
	for i := 1; i < lines.Len(); i++ {
		delimiters := lines.At(i)
		columns := delimiterCells(string(delimiters.Value(reader.Source())))
		if columns == 0 {
			continue
		}
		header := lines.At(i - 1)
		if cells(string(header.Value(reader.Source()))) != columns {
			continue
		}
		table := east.NewTable()
		table.Lines().AppendAll(lines.Sliced(i-1, lines.Len()))
		node.Parent().InsertAfter(node.Parent(), node, table)
		lines.SetSliced(0, i-1)
		if lines.Len() == 0 {
			node.Parent().RemoveChild(node.Parent(), node)
		}
		return
	}
}

// delimiterCells returns the number of cells of a delimiter row, 0 if line is
// none.
func delimiterCells(line string) int {
	if strings.Trim(line, " \t\r\n|:-") != "" || !strings.ContainsAny(line, "|:") {
		return 0
	}
	n := 0
	for cell := range strings.SplitSeq(trimRow(line), "|") {
		cell = strings.Trim(cell, " \t")
		cell = strings.TrimPrefix(cell, ":")
		cell = strings.TrimSuffix(cell, ":")
		if cell == "" || strings.Trim(cell, "-") != "" {
			return 0
		}
		n++
	}
	return n
}

// cells returns the number of cells of a row.
func cells(line string) int {
	row := trimRow(line)
	return 1 + strings.Count(row, "|") - strings.Count(row, `\|`)
}

// trimRow returns a row without the pipes at its ends.
func trimRow(line string) string {
	line = strings.TrimPrefix(strings.Trim(line, " \t\r\n"), "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	return line
}
