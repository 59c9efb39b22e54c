package html_test

import (
	"context"
	"fmt"

	"github.com/rageval/rageval/chunkers/html"
	"github.com/rageval/rageval/spans"
)

const install = `<html><head><title>Setup</title></head><body>
<h1>Setup</h1>
<h2 id="linux">Linux</h2>
<p>Install the <b>package</b>: <code>apt install tool</code></p>
<h2 id="macos">macOS</h2>
<p>Homebrew &amp; MacPorts have it.</p>
</body></html>
`

func ExampleHTML() {
	doc, err := spans.NewDocument("install.html", install, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c := html.HTML{Size: 150, PlainText: true}
	pieces, err := c.ChunkWithPositions(context.Background(), doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c)
	for _, p := range pieces {
		fmt.Printf("%d-%d %s: %q\n", p.Start, p.End, p.Metadata[html.Headings], p.Text)
	}
	// Output:
	// html/size=150/plaintext=true
	// 39-151 Setup > Linux: "Setup\nLinux\nInstall the package: apt install tool"
	// 152-232 Setup > macOS: "macOS\nHomebrew & MacPorts have it."
}
