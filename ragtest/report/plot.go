package report

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"image/color"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Plot is a figure of a report. The same results give the same bytes. A Plot is
// drawn by one goroutine at a time.
type Plot struct {
	Name    string // fit for a file name, such as "recall-by-rank"
	Caption string // what it shows, in a sentence or two

	plot          *plot.Plot
	width, height vg.Length
}

// Plots returns the figures of the page, drawn for paper: on white.
func (p Page) Plots() ([]Plot, error) {
	c, err := p.contents()
	if err != nil {
		return nil, fmt.Errorf("reporting: %w", err)
	}
	plots := c.plots()
	for i := range plots {
		plots[i].plot.BackgroundColor = color.White
	}
	return plots, nil
}

// SVG returns the figure as an SVG file. Its text is in Liberation Sans or, where
// that is not installed, another font.
func (p Plot) SVG() ([]byte, error) { return p.draw(vgsvg.New(p.width, p.height)) }

// PNG returns the figure as a PNG file of 192 dots an inch.
func (p Plot) PNG() ([]byte, error) {
	return p.draw(vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(p.width, p.height), vgimg.UseDPI(192))})
}

// Equal reports whether both figures look the same.
func (p Plot) Equal(q Plot) bool {
	a, errA := p.SVG()
	b, errB := q.SVG()
	return errA == nil && errB == nil && p.Name == q.Name && p.Caption == q.Caption && bytes.Equal(a, b)
}

// WriteFile writes the figure to a file, whole or not at all, in the format that
// the extension asks for: .svg or .png.
func (p Plot) WriteFile(path string) error {
	format := p.SVG
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".svg":
	case ".png":
		format = p.PNG
	default:
		return fmt.Errorf("reporting: plot file %s: got the extension %q, want .svg or .png", path, ext)
	}
	data, err := format()
	if err != nil {
		return err
	}
	return write(path, data)
}

func (p Plot) draw(canvas vg.CanvasWriterTo) ([]byte, error) {
	if p.plot == nil {
		return nil, errors.New("reporting: a Plot without a figure: want one that Plots returned")
	}
	p.plot.Draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, fmt.Errorf("reporting: drawing %s: %w", p.Name, err)
	}
	return b.Bytes(), nil
}

// The colours of figures on paper. Where a page embeds a figure, each stands for
// one that suits the reader's theme: see [themes].
var (
	ink    = color.RGBA{0x1c, 0x23, 0x2e, 0xff}
	faint  = color.RGBA{0xd9, 0xde, 0xe6, 0xff}
	lost   = color.RGBA{0xc9, 0x4f, 0x3d, 0xff}
	gained = color.RGBA{0x2b, 0x8a, 0x57, 0xff}
	series = []color.RGBA{
		{0x2f, 0x6f, 0xdb, 0xff}, {0xd9, 0x7a, 0x0b, 0xff}, {0x8a, 0x4f, 0xc7, 0xff}, {0x0f, 0x8f, 0x96, 0xff}, {0xb5, 0x3a, 0x7d, 0xff},
	}
)

// themes are the custom properties of the page's style sheet that stand for the
// colours of figures.
var themes = []struct {
	color    color.RGBA
	property string
}{
	{ink, "--ink"}, {faint, "--faint"}, {lost, "--lost"}, {gained, "--gained"},
	{series[0], "--series-1"}, {series[1], "--series-2"}, {series[2], "--series-3"}, {series[3], "--series-4"}, {series[4], "--series-5"},
}

// sans is the font of figures.
var sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

const (
	figureWidth  = 6 * vg.Inch
	figureHeight = 3 * vg.Inch
)

// newPlot returns an empty figure in the house's style.
func newPlot(x, y string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.X.Label.Text, p.Y.Label.Text = inFigure(x), inFigure(y)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color, a.Tick.Label.Color, a.Tick.Color = ink, ink, ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = ink, ink
		a.LineStyle.Width, a.Tick.LineStyle.Width = 0.5, 0.5
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans, sans
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = 10, 9
		a.Label.Padding = 4
	}
	p.Legend.TextStyle.Font, p.Legend.TextStyle.Color = sans, ink
	p.Legend.TextStyle.Font.Size = 9
	p.Legend.Padding = 2
	return p
}

// inFigure returns a text as a figure has room for it: short, and in one line.
func inFigure(s string) string {
	return shorten(strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) {
			return r
		}
		return ' '
	}, s), 48)
}

// embedded returns the figure as an SVG element that takes its colours and its
// font from the page. A page whose policy forbids inline styles can hold it.
func (p Plot) embedded() (string, error) {
	data, err := p.SVG()
	if err != nil {
		return "", err
	}
	_, svg, ok := strings.Cut(string(data), "<svg ")
	if !ok {
		return "", fmt.Errorf("reporting: drawing %s: there is no svg element", p.Name)
	}
	_, svg, _ = strings.Cut(svg, "viewBox=") // the page sets the size
	var b strings.Builder
	b.WriteString(`<svg aria-hidden="true" viewBox=`)
	for {
		before, after, ok := strings.Cut(svg, `style="`)
		b.WriteString(before)
		if !ok {
			return b.String(), nil
		}
		var style string
		style, svg, _ = strings.Cut(after, `"`)
		list := attributes(style)
		if text, ok := strings.CutPrefix(svg, ">"); ok { // of a text element
			text, _, _ = strings.Cut(text, "</text>")
			list = append(list, textLength(html.UnescapeString(text), style)...)
		}
		b.WriteString(strings.Join(list, " "))
	}
}

// attributes returns the properties of a style as attributes, but for fonts.
func attributes(style string) []string {
	var list []string
	for _, property := range strings.Split(style, ";") {
		name, value, _ := strings.Cut(property, ":")
		if name == "font-family" || name == "font-variant" || value == "" {
			continue
		}
		var c color.RGBA
		if n, _ := fmt.Sscanf(value, "#%02X%02X%02X", &c.R, &c.G, &c.B); n == 3 {
			value = themed(c, value)
		}
		list = append(list, fmt.Sprintf(`%s="%s"`, name, value))
	}
	return list
}

// themed returns the custom property that stands for a colour: value if there is
// none. Colours that are not opaque come out of their SVG rounded.
func themed(c color.RGBA, value string) string {
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= 3 }
	for _, t := range themes {
		if near(c.R, t.color.R) && near(c.G, t.color.G) && near(c.B, t.color.B) {
			return "var(" + t.property + ")"
		}
	}
	return value
}

// textLength returns the attributes that fit a text into the width that it has in
// the font of the figure, whichever font the reader has.
func textLength(s, style string) []string {
	_, after, _ := strings.Cut(style, "font-size:")
	size, _, _ := strings.Cut(after, "px")
	points, err := strconv.ParseFloat(size, 64)
	if err != nil || strings.TrimSpace(s) == "" {
		return nil
	}
	face := font.DefaultCache.Lookup(sans, vg.Length(points))
	return []string{fmt.Sprintf(`textLength="%.2f"`, face.Width(s).Points()), `lengthAdjust="spacingAndGlyphs"`}
}
