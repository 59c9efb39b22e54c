package markdown

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/rageval/rageval/internal/blocks"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	maxDepth            = 64  // of blocks that hold blocks: each line is matched against all that are open
	maxReferenceLines   = 500 // of a paragraph: goldmark takes time quadratic in its reference definitions
	maxParsedHeading    = 500 // bytes: longer ones are titles as they are written
	punctuation         = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
	spaceAndPunctuation = " " + punctuation
)

// blockParser parses blocks only, and of the text in them only that of
// headings: that is all that cutting needs.
var blockParser = sync.OnceValue(func() parser.Parser {
	limited := func(p parser.BlockParser) parser.BlockParser { return placed{p, maxDepth} }
	always := func(p parser.BlockParser) parser.BlockParser { return placed{p, 1 << 30} }
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(always(parser.NewSetextHeadingParser()), 100),
			util.Prioritized(limited(extension.NewDefinitionListParser()), 101),
			util.Prioritized(always(extension.NewDefinitionDescriptionParser()), 102),
			util.Prioritized(always(parser.NewThematicBreakParser()), 200),
			util.Prioritized(limited(parser.NewListParser()), 300),
			util.Prioritized(always(parser.NewListItemParser()), 400),
			util.Prioritized(always(parser.NewCodeBlockParser()), 500),
			util.Prioritized(always(parser.NewATXHeadingParser()), 600),
			util.Prioritized(always(parser.NewFencedCodeBlockParser()), 700),
			util.Prioritized(limited(parser.NewBlockquoteParser()), 800),
			util.Prioritized(always(parser.NewHTMLBlockParser()), 900),
			util.Prioritized(footnotes{limited(extension.NewFootnoteBlockParser())}, 999),
			util.Prioritized(always(parser.NewParagraphParser()), 1000),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(references{}, 100),
			util.Prioritized(tables{}, 200),
		),
		parser.WithInlineParsers(
			util.Prioritized(skipText{}, 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
	)
})

// placed is a block parser that records where a block begins as the first of
// its lines, if it has none: goldmark's Pos is some columns off after a tab. It
// opens none within limit others.
type placed struct {
	parser.BlockParser
	limit int
}

func (p placed) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if len(pc.OpenedBlocks()) >= p.limit {
		return nil, parser.NoChildren
	}
	_, at := reader.Position()
	node, state := p.BlockParser.Open(parent, reader, pc)
	if node != nil && node.Lines().Len() == 0 {
		node.Lines().Append(text.NewSegment(at.Start, at.Start))
	}
	return node, state
}

// footnotes leaves the footnotes where they are.
type footnotes struct{ parser.BlockParser }

func (footnotes) Close(ast.Node, text.Reader, parser.Context) {}

// references is goldmark's parser of link reference definitions for paragraphs
// that are not very long.
type references struct{}

func (references) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxReferenceLines {
		parser.LinkReferenceParagraphTransformer.Transform(node, reader, pc)
	}
}

// skipText takes the text of all blocks but headings as it is.
type skipText struct{}

func (skipText) Trigger() []byte { return []byte(spaceAndPunctuation) }

func (skipText) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	lines := parent.Lines()
	last := lines.At(lines.Len() - 1)
	if parent.Kind() == ast.KindHeading && last.Stop-lines.At(0).Start <= maxParsedHeading {
		return nil
	}
	block.SetPosition(lines.Len(), text.NewSegment(last.Stop, last.Stop))
	return ast.NewText()
}

// parse returns the blocks of source, or the cause of ctx being done.
func parse(ctx context.Context, source string) (structure blocks.Structure, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopped:
			structure, err = blocks.Structure{}, r.cause
		default:
			structure, err = blocks.Structure{}, fmt.Errorf("parsing Markdown of %d bytes: goldmark panicked: %v", len(source), r)
		}
	}()
	mark := byteOrderMark(source)
	start := frontMatterEnd(source, mark)
	f := flattening{source: source, offset: start}
	if start > mark {
		f.Blocks = append(f.Blocks, blocks.Block{Kind: blocks.Lines})
	}
	f.body = util.StringToReadOnlyBytes(source[start:])
	doc := blockParser().Parse(&lines{Reader: text.NewReader(f.body), ctx: ctx})
	f.addChildren(doc, start)
	if len(f.Blocks) > 0 {
		f.Blocks[0].Start = 0
	} else if len(source) > 0 {
		f.Blocks = append(f.Blocks, blocks.Block{Kind: blocks.Lines}) // nothing but white space, or definitions
	}
	return f.Structure, nil
}

// lines is a reader that panics with what ctx says once that is done: goldmark
// knows no context.
type lines struct {
	text.Reader
	ctx  context.Context
	read int
}

func (l *lines) PeekLine() ([]byte, text.Segment) {
	l.read++
	if l.read%256 == 0 && l.ctx.Err() != nil {
		panic(stopped{context.Cause(l.ctx)})
	}
	return l.Reader.PeekLine()
}

type stopped struct{ cause error }

// flattening turns goldmark's tree into blocks.
type flattening struct {
	blocks.Structure
	source string
	offset int    // of body in source
	body   []byte // what goldmark parsed
}

// addChildren adds the blocks within node, which begins at byte start.
func (f *flattening) addChildren(node ast.Node, start int) {
	first := true
	for n := node.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Type() != ast.TypeBlock {
			return
		}
		at := start // what begins in the line of its parent begins with it
		if !first {
			at = f.lineStart(n)
			if at <= start { // not a block of its own: it belongs to the one before
				continue
			}
		}
		first, start = false, at
		f.add(n, at)
	}
}

// add adds the block node, which begins at byte start, and those within it.
func (f *flattening) add(node ast.Node, start int) {
	b := blocks.Block{Start: start}
	index := len(f.Blocks)
	f.Blocks = append(f.Blocks, b)
	switch n := node.(type) {
	case *ast.Heading:
		b.Level = uint8(n.Level)
		b.Title = int32(len(f.Titles))
		f.Titles = append(f.Titles, f.title(n))
	case *east.Table:
		b.Kind = blocks.Lines
		b.Header = f.offset + n.Lines().At(min(1, n.Lines().Len()-1)).Stop
	case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock, *ast.LinkReferenceDefinition, *ast.ThematicBreak:
		b.Kind = blocks.Lines
	case *ast.Paragraph, *ast.TextBlock, *east.DefinitionTerm:
	default:
		f.addChildren(node, start)
	}
	b.Inner = len(f.Blocks) - index - 1
	f.Blocks[index] = b
}

// lineStart returns where the line begins in which node does: 0 if that is not
// known.
func (f *flattening) lineStart(node ast.Node) int {
	if list, ok := node.(*east.DefinitionList); ok && list.HasChildren() {
		node = list.FirstChild()
	}
	if node.Lines().Len() == 0 {
		return 0
	}
	at := f.offset + node.Lines().At(0).Start
	return f.offset + strings.LastIndexByte(f.source[f.offset:at], '\n') + 1
}

// title returns the text of a heading without markup, with single spaces.
func (f *flattening) title(heading *ast.Heading) string {
	var title bytes.Buffer
	_ = ast.Walk(heading, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := node.(type) {
		case *ast.Text:
			value := n.Value(f.body)
			if !n.IsRaw() && node.Parent().Kind() != ast.KindCodeSpan {
				value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
			}
			title.Write(value)
			if n.SoftLineBreak() || n.HardLineBreak() {
				title.WriteByte(' ')
			}
		case *ast.AutoLink:
			title.Write(n.Label(f.body))
		}
		return ast.WalkContinue, nil
	})
	if title.Len() == 0 {
		for i := range heading.Lines().Len() {
			line := heading.Lines().At(i)
			title.Write(line.Value(f.body))
			title.WriteByte(' ')
		}
	}
	return strings.Join(strings.Fields(strings.ToValidUTF8(title.String(), "\ufffd")), " ")
}
