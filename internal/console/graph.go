package console

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Box is one step in a drawing of a graph.
type Box struct {
	ID        string // path
	Name      string
	Kind      string // bash, run, ..., or the tool it uses
	Condition string
	After     []string // ids
	Inside    []Box    // a nested tool's steps
}

// Draw writes the graph as text, dot (Graphviz) or mermaid. Arrows that follow
// from others are left out.
func Draw(w io.Writer, boxes []Box, form string) error {
	var b strings.Builder
	switch form {
	case "dot":
		drawDot(&b, boxes)
	case "mermaid":
		drawMermaid(&b, boxes)
	default:
		drawText(&b, boxes, "")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// mostReduced bounds the drawing that is freed of superfluous arrows: that takes
// a set of all upstream steps for each step.
const mostReduced = 2000

// reduce leaves out arrows that a longer way implies.
func reduce(boxes []Box) []Box {
	if len(boxes) > mostReduced {
		return boxes
	}
	above := map[string]map[string]bool{} // all upstream steps of each
	out := slices.Clone(boxes)
	for i, b := range out { // in plan order: upstream comes first
		all := map[string]bool{}
		for _, up := range b.After {
			all[up] = true
			for x := range above[up] {
				all[x] = true
			}
		}
		above[b.ID] = all
		out[i].After = nil
		for _, up := range b.After {
			if !slices.ContainsFunc(b.After, func(other string) bool { return other != up && above[other][up] }) {
				out[i].After = append(out[i].After, up)
			}
		}
	}
	return out
}

// drawText lists steps by wave with what they wait for.
func drawText(b *strings.Builder, boxes []Box, indent string) {
	boxes = reduce(boxes)
	waves, width := waves(boxes)
	slices.SortStableFunc(boxes, func(x, y Box) int { return waves[x.ID] - waves[y.ID] })
	for _, x := range boxes {
		line := fmt.Sprintf("%s%3d  %-*s", indent, waves[x.ID], width, x.Name)
		if len(x.After) > 0 {
			names := make([]string, len(x.After))
			for i, up := range x.After {
				names[i] = up[strings.LastIndex(up, "/")+1:]
			}
			line += "  <- " + strings.Join(names, ", ")
		}
		if x.Condition != "" {
			line += "  if " + clean(x.Condition)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if len(x.Inside) > 0 {
			fmt.Fprintf(b, "%s     %s:\n", indent, x.Kind)
			drawText(b, x.Inside, indent+"     ")
		}
	}
}

func waves(boxes []Box) (map[string]int, int) {
	waves, width := map[string]int{}, 0
	for _, x := range boxes {
		depth := 0
		for _, up := range x.After {
			depth = max(depth, waves[up])
		}
		waves[x.ID] = depth + 1
		width = max(width, len(x.Name))
	}
	return waves, width
}

func drawDot(b *strings.Builder, boxes []Box) {
	b.WriteString("digraph flowrun {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n")
	dotBoxes(b, boxes, "  ")
	b.WriteString("}\n")
}

func dotBoxes(b *strings.Builder, boxes []Box, indent string) {
	for _, x := range reduce(boxes) {
		if len(x.Inside) > 0 {
			fmt.Fprintf(b, "%ssubgraph %q {\n%s  label=%q;\n", indent, "cluster_"+x.ID, indent, x.Name+" ("+x.Kind+")")
			dotBoxes(b, x.Inside, indent+"  ")
			fmt.Fprintf(b, "%s}\n", indent)
		}
		style := ""
		if x.Condition != "" {
			style = ", style=\"rounded,dashed\", tooltip=" + strconv.Quote(x.Condition)
		}
		fmt.Fprintf(b, "%s%q [label=%q%s];\n", indent, x.ID, x.Name, style)
		for _, up := range x.After {
			fmt.Fprintf(b, "%s%q -> %q;\n", indent, up, x.ID)
		}
	}
}

func drawMermaid(b *strings.Builder, boxes []Box) {
	b.WriteString("flowchart LR\n")
	ids := map[string]string{}
	mermaidBoxes(b, boxes, "  ", ids)
}

// mermaidBoxes gives every step a number, since mermaid's ids take few characters.
func mermaidBoxes(b *strings.Builder, boxes []Box, indent string, ids map[string]string) {
	id := func(path string) string {
		if ids[path] == "" {
			ids[path] = fmt.Sprintf("s%d", len(ids)+1)
		}
		return ids[path]
	}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, "#quot;") + `"` }
	for _, x := range reduce(boxes) {
		open, shut := "[", "]"
		if x.Condition != "" {
			open, shut = "{{", "}}"
		}
		fmt.Fprintf(b, "%s%s%s%s%s\n", indent, id(x.ID), open, quote(x.Name), shut)
		for _, up := range x.After {
			fmt.Fprintf(b, "%s%s --> %s\n", indent, id(up), id(x.ID))
		}
		if len(x.Inside) > 0 {
			fmt.Fprintf(b, "%ssubgraph %s_inside[%s]\n", indent, id(x.ID), quote(x.Name+" ("+x.Kind+")"))
			mermaidBoxes(b, x.Inside, indent+"  ", ids)
			fmt.Fprintf(b, "%send\n", indent)
		}
	}
}
