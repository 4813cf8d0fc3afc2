package drawing

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/screen/layout"
)

// svgMargin is around the whole drawing.
const svgMargin = 16

// svgStyle are the colors of the image in both themes. A browser that shows the image inside a
// page uses the theme of its reader.
const svgStyle = `svg{--text:#1b2028;--muted:#566070;--line:#9aa5b4;--box:#ffffff;--group:#f2f4f7;--green:#167a3f;--red:#c0262d;--blue:#1f63c9;--amber:#935300;--grey:#5d6675;font:13px system-ui,sans-serif}
@media(prefers-color-scheme:dark){svg{--text:#e6e9ee;--muted:#9aa5b4;--line:#566070;--box:#171b22;--group:#101318;--green:#4cc27c;--red:#ff7a78;--blue:#6cabff;--amber:#eeb04f;--grey:#9aa5b4}}
rect{fill:var(--box);stroke:var(--line);stroke-width:1.5}
.group{fill:var(--group)}.when{stroke-dasharray:5 3}
path{fill:none;stroke:var(--line);stroke-width:1.5}circle{fill:var(--line)}
text{fill:var(--text)}.note{fill:var(--muted);font-size:11px}
.green{--line:var(--green)}.red{--line:var(--red)}.blue{--line:var(--blue)}.amber{--line:var(--amber)}.grey{--line:var(--grey)}
.glyph{fill:var(--line);font-size:15px;text-anchor:middle}
`

// statusClasses are the colors of states in the image.
var statusClasses = map[dag.Status]string{
	dag.Pending: "grey", dag.Running: "blue", dag.Retrying: "amber", dag.Waiting: "amber", dag.Succeeded: "green", dag.Reused: "green",
	dag.Failed: "red", dag.Skipped: "grey", dag.Cancelled: "grey", dag.TimedOut: "red", dag.Interrupted: "red",
}

// drawSVG writes the graph as an image.
func drawSVG(w io.Writer, boxes []Box, run bool) error {
	boxes, g := Place(boxes)
	var b strings.Builder
	width, height := g.W+2*svgMargin, g.H+2*svgMargin
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"%d %d %d %d\" role=\"img\">\n<style>%s</style>\n",
		width, height, -svgMargin, -svgMargin, width, height, svgStyle)
	svgBoxes(&b, boxes, g, run)
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func svgBoxes(b *strings.Builder, boxes []Box, g *layout.Graph, run bool) {
	for _, e := range g.Edges {
		fmt.Fprintf(b, "<path d=\"%s\"/>\n", linePath(e.Points))
	}
	for i := range boxes {
		x, n := &boxes[i], g.Nodes[i]
		if x.Join {
			fmt.Fprintf(b, "<circle cx=\"%d\" cy=\"%d\" r=\"3\"/>\n", n.X, n.Y)
			continue
		}
		svgBox(b, x, n, run)
		if n.Inside != nil {
			svgBoxes(b, x.Inside, n.Inside, run)
		}
	}
}

func svgBox(b *strings.Builder, x *Box, n layout.Node, run bool) {
	title, classes := x.ID, []string{}
	if x.Condition != "" {
		title, classes = title+"\nif "+x.Condition, append(classes, "when")
	}
	if n.Inside != nil {
		classes = append(classes, "group")
	}
	second, left := x.subtitle(), 12
	open := "<g>"
	if run {
		open, left = fmt.Sprintf("<g class=\"%s\">", statusClasses[x.Status]), 34
		title += "\n" + x.outcome(run)
		if n.Inside == nil {
			second = x.outcome(run)
			if x.Note != "" {
				second += " · " + x.Note
			}
		}
	}
	fmt.Fprintf(b, "%s<title>%s</title><rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"7\"/>\n",
		open, escaped(title), strings.Join(classes, " "), n.X, n.Y, n.W, n.H)
	if run {
		fmt.Fprintf(b, "<text class=\"glyph\" x=\"%d\" y=\"%d\">%s</text>", n.X+18, n.Y+25, console.StyleOf(x.Status).Glyph)
	}
	letters := int(float64(n.W-left-8) / letterWidth)
	if n.Inside != nil {
		fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s <tspan class=\"note\">%s</tspan></text></g>\n",
			n.X+left, n.Y+23, escaped(shortened(x.Name, letters)), escaped(shortened(second, max(letters*6/5-len(x.Name), 0))))
		return
	}
	fmt.Fprintf(b, "<text x=\"%d\" y=\"%d\">%s</text><text class=\"note\" x=\"%d\" y=\"%d\">%s</text></g>\n",
		n.X+left, n.Y+19, escaped(shortened(x.Name, letters)), n.X+left, n.Y+34, escaped(shortened(second, letters*6/5)))
}

// escaped returns text for an image: as XML, and without characters that are not visible.
func escaped(s string) string {
	var b strings.Builder
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = console.Clean(lines[i])
	}
	_ = xml.EscapeText(&b, []byte(strings.Join(lines, "\n"))) // to memory: never fails
	return b.String()
}

// shortened returns the first letters of a text.
func shortened(s string, letters int) string {
	r := []rune(s)
	if len(r) <= letters {
		return s
	}
	return string(r[:max(letters-1, 0)]) + "…"
}

// linePath returns the line through points as the d of a path, with round corners.
func linePath(p []layout.Point) string {
	const radius = 6
	var b strings.Builder
	fmt.Fprintf(&b, "M%d %d", p[0].X, p[0].Y)
	for k := 1; k < len(p)-1; k++ {
		in, out := toward(p[k], p[k-1], radius), toward(p[k], p[k+1], radius)
		fmt.Fprintf(&b, "L%d %dQ%d %d %d %d", in.X, in.Y, p[k].X, p[k].Y, out.X, out.Y)
	}
	last := p[len(p)-1]
	fmt.Fprintf(&b, "L%d %d", last.X, last.Y)
	return b.String()
}

// toward returns the point at a distance from a in the direction of b, at most half the way.
func toward(a, b layout.Point, distance int) layout.Point {
	step := func(a, b int) int {
		d := min(distance, max(b-a, a-b)/2)
		if b < a {
			return a - d
		}
		return a + d
	}
	return layout.Point{X: step(a.X, b.X), Y: step(a.Y, b.Y)}
}
