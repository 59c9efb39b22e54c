package markdown_test

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/chunkers/markdown"
	"github.com/rageval/rageval/spans"
)

const install = `# Setup

## Linux

Install the package.

| distribution | command           |
|--------------|-------------------|
| Debian       | apt install tool  |
| Fedora       | dnf install tool  |

## macOS

brew install tool
`

func ExampleMarkdown() {
	doc, err := spans.NewDocument("install.md", install, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := markdown.Markdown{Size: 150}
	pieces, err := c.ChunkWithPositions(context.Background(), doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, p := range pieces {
		fmt.Printf("%d-%d %s: %q\n", p.Start, p.End, p.Metadata[markdown.Headings], p.Text)
	}
	// Output:
	// markdown/size=150
	// 0-39 Setup > Linux: "# Setup\n\n## Linux\n\nInstall the package."
	// 41-188 Setup > Linux: "| distribution | command           |\n|--------------|-------------------|\n| Debian       | apt install tool  |\n| Fedora       | dnf install tool  |"
	// 190-217 Setup > macOS: "## macOS\n\nbrew install tool"
}

// Positions stay those of the source when headings are put before the text.
func ExampleMarkdown_headingPrefix() {
	c := markdown.Markdown{Size: 120, HeadingPrefix: true}
	texts, err := c.Chunk(context.Background(), install)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(texts[len(texts)-2])
	// Output:
	// Setup > Linux
	//
	// | distribution | command           |
	// |--------------|-------------------|
	// | Fedora       | dnf install tool  |
}
