package chunkers

import (
	"fmt"
	"slices"
)

// KeepSeparator says what becomes of the separators that a text is cut at. The
// zero value is KeepStart.
type KeepSeparator int

const (
	KeepStart KeepSeparator = iota // a separator begins the part that follows it
	KeepEnd                        // a separator ends the part before it
	KeepNone                       // a separator belongs to no part
)

var keepNames = [...]string{KeepStart: "start", KeepEnd: "end", KeepNone: "none"}

// String returns start, end or none.
func (k KeepSeparator) String() string {
	if k.valid() {
		return keepNames[k]
	}
	return fmt.Sprintf("KeepSeparator(%d)", int(k))
}

func (k KeepSeparator) valid() bool { return k >= 0 && int(k) < len(keepNames) }

// ParseKeepSeparator returns the KeepSeparator whose String is s.
func ParseKeepSeparator(s string) (KeepSeparator, error) {
	if i := slices.Index(keepNames[:], s); i >= 0 {
		return KeepSeparator(i), nil
	}
	return 0, fmt.Errorf("KeepSeparator %q: want one of %q", s, keepNames)
}

// Ready-made lists for [RecursiveCharacter.Separators]: where structure ends,
// best first, then blank lines, lines, words, characters. They look for text at
// the start of lines and know no grammar, so a separator in a string or a
// comment cuts too. They must not be modified.
//
// The separators are those that @langchain/textsplitters 1.0.2 has for the
// language; those for TypeScript and HTML are of LangChain for Python, for
// LangChain for JavaScript has none for TypeScript and, for HTML, tags without
// attributes only.
var (
	MarkdownSeparators = []string{
		"\n## ", "\n### ", "\n#### ", "\n##### ", "\n###### ",
		"```\n\n", "\n\n***\n\n", "\n\n---\n\n", "\n\n___\n\n",
		"\n\n", "\n", " ", "",
	}
	HTMLSeparators = []string{
		"<body", "<div", "<p", "<br", "<li", "<h1", "<h2", "<h3", "<h4", "<h5", "<h6",
		"<span", "<table", "<tr", "<td", "<th", "<ul", "<ol", "<header", "<footer", "<nav",
		"<head", "<style", "<script", "<meta", "<title", "",
	}
	GoSeparators = []string{
		"\nfunc ", "\nvar ", "\nconst ", "\ntype ", "\nif ", "\nfor ", "\nswitch ", "\ncase ",
		"\n\n", "\n", " ", "",
	}
	PythonSeparators = []string{
		"\nclass ", "\ndef ", "\n\tdef ",
		"\n\n", "\n", " ", "",
	}
	JavaScriptSeparators = []string{
		"\nfunction ", "\nconst ", "\nlet ", "\nvar ", "\nclass ",
		"\nif ", "\nfor ", "\nwhile ", "\nswitch ", "\ncase ", "\ndefault ",
		"\n\n", "\n", " ", "",
	}
	TypeScriptSeparators = []string{
		"\nenum ", "\ninterface ", "\nnamespace ", "\ntype ", "\nclass ",
		"\nfunction ", "\nconst ", "\nlet ", "\nvar ",
		"\nif ", "\nfor ", "\nwhile ", "\nswitch ", "\ncase ", "\ndefault ",
		"\n\n", "\n", " ", "",
	}
	JavaSeparators = []string{
		"\nclass ", "\npublic ", "\nprotected ", "\nprivate ", "\nstatic ",
		"\nif ", "\nfor ", "\nwhile ", "\nswitch ", "\ncase ",
		"\n\n", "\n", " ", "",
	}
	RustSeparators = []string{
		"\nfn ", "\nconst ", "\nlet ", "\nif ", "\nwhile ", "\nfor ", "\nloop ", "\nmatch ",
		"\n\n", "\n", " ", "",
	}
	LaTeXSeparators = []string{
		"\n\\chapter{", "\n\\section{", "\n\\subsection{", "\n\\subsubsection{",
		"\n\\begin{enumerate}", "\n\\begin{itemize}", "\n\\begin{description}", "\n\\begin{list}",
		"\n\\begin{quote}", "\n\\begin{quotation}", "\n\\begin{verse}", "\n\\begin{verbatim}", "\n\\begin{align}",
		"$$", "$",
		"\n\n", "\n", " ", "",
	}
)

// separatorLists names the ready-made lists.
var separatorLists = []struct {
	name       string
	separators []string
}{
	{"markdown", MarkdownSeparators},
	{"html", HTMLSeparators},
	{"go", GoSeparators},
	{"python", PythonSeparators},
	{"javascript", JavaScriptSeparators},
	{"typescript", TypeScriptSeparators},
	{"java", JavaSeparators},
	{"rust", RustSeparators},
	{"latex", LaTeXSeparators},
}

// SeparatorsNamed returns the ready-made list that [RecursiveCharacter.String]
// prints by that name, such as markdown. The list must not be modified. The
// error names the lists there are.
func SeparatorsNamed(name string) ([]string, error) {
	var names []string
	for _, list := range separatorLists {
		if list.name == name {
			return list.separators, nil
		}
		names = append(names, list.name)
	}
	return nil, fmt.Errorf("separators %q: want one of %q", name, names)
}

// separatorsName returns the name of a ready-made list, "" if separators is
// none.
func separatorsName(separators []string) string {
	for _, list := range separatorLists {
		if slices.Equal(list.separators, separators) {
			return list.name
		}
	}
	return ""
}
