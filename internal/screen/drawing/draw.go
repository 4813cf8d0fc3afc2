package drawing

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Draw writes the graph as text, dot (Graphviz), mermaid, json or svg, with the states and
// durations of a run if the boxes have them.
func Draw(w io.Writer, boxes []Box, form string) error {
	var b strings.Builder
	run := anyRan(boxes)
	if form == "svg" {
		return drawSVG(w, boxes, run)
	}
	switch form {
	case "dot":
		drawDot(&b, boxes, run)
	case "mermaid":
		drawMermaid(&b, boxes, run)
	case "json":
		return drawJSON(w, boxes, run)
	default:
		drawText(&b, boxes, "", run)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// outcome returns the result of a step, such as "failed 3.1s", or "" if no results are drawn.
func (b Box) outcome(run bool) string {
	switch {
	case !run:
		return ""
	case b.Duration > 0:
		return b.Status.String() + " " + console.Short(b.Duration)
	}
	return b.Status.String()
}

// drawText lists the steps by wave, each with what it waits for.
func drawText(b *strings.Builder, boxes []Box, indent string, run bool) {
	boxes = slices.Clone(boxes)
	waves, width := waves(boxes)
	outcomes := 0
	for _, x := range boxes {
		outcomes = max(outcomes, len(x.outcome(run)))
	}
	slices.SortStableFunc(boxes, func(x, y Box) int { return waves[x.ID] - waves[y.ID] })
	for _, x := range boxes {
		line := fmt.Sprintf("%s%3d  %-*s", indent, waves[x.ID], width, x.Name)
		if run {
			line += fmt.Sprintf("  %-*s", outcomes, x.outcome(run))
		}
		if len(x.After) > 0 {
			names := make([]string, len(x.After))
			for i, up := range x.After {
				names[i] = string(dag.ID(up).Base())
			}
			line += "  <- " + strings.Join(names, ", ")
		}
		if x.Note != "" {
			line += "  (" + console.Clean(x.Note) + ")"
		}
		if x.Condition != "" {
			line += "  if " + console.Clean(x.Condition)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if len(x.Inside) > 0 {
			fmt.Fprintf(b, "%s     %s:\n", indent, x.Kind)
			drawText(b, x.Inside, indent+"     ", run)
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

func drawDot(b *strings.Builder, boxes []Box, run bool) {
	b.WriteString("digraph flowrun {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n")
	dotBoxes(b, boxes, "  ", run)
	b.WriteString("}\n")
}

func dotBoxes(b *strings.Builder, boxes []Box, indent string, run bool) {
	for _, x := range boxes {
		if len(x.Inside) > 0 {
			fmt.Fprintf(b, "%ssubgraph %q {\n%s  label=%q;\n", indent, "cluster_"+x.ID, indent, x.Name+" ("+x.Kind+")")
			dotBoxes(b, x.Inside, indent+"  ", run)
			fmt.Fprintf(b, "%s}\n", indent)
		}
		fmt.Fprintf(b, "%s%q [label=%q%s];\n", indent, x.ID, withOutcome(x, run, "\n"), dotStyle(x, run))
		for _, up := range x.After {
			fmt.Fprintf(b, "%s%q -> %q;\n", indent, up, x.ID)
		}
	}
}

// withOutcome returns the label of a box: its name, and below it the note and the result.
func withOutcome(x Box, run bool, newline string) string {
	label := x.Name
	for _, line := range []string{x.Note, x.outcome(run)} {
		if line != "" {
			label += newline + line
		}
	}
	return label
}

// dotStyle returns the style of a box: dashed if it has a condition, filled with the color of
// its state.
func dotStyle(x Box, run bool) string {
	style, more := "rounded", ""
	if x.Condition != "" {
		style, more = style+",dashed", ", tooltip="+strconv.Quote(x.Condition)
	}
	if run {
		l := console.StyleOf(x.Status)
		style, more = style+",filled", more+fmt.Sprintf(", fillcolor=%q, color=%q", l.Fill, l.Line)
	}
	if style == "rounded" { // the default style
		return ""
	}
	return fmt.Sprintf(", style=%q%s", style, more)
}

func drawMermaid(b *strings.Builder, boxes []Box, run bool) {
	b.WriteString("flowchart LR\n")
	ids := map[string]string{}
	mermaidBoxes(b, boxes, "  ", ids, run)
	if !run {
		return
	}
	used := statesOf(boxes, nil)
	slices.Sort(used)
	for _, s := range slices.Compact(used) {
		fmt.Fprintf(b, "  classDef %s fill:%s,stroke:%s,color:#000000\n", mermaidClass(s), console.StyleOf(s).Fill, console.StyleOf(s).Line)
	}
}

func statesOf(boxes []Box, found []dag.Status) []dag.Status {
	for _, x := range boxes {
		found = statesOf(x.Inside, append(found, x.Status))
	}
	return found
}

// mermaidClass returns the word of a state without the characters that a class name cannot
// contain.
func mermaidClass(s dag.Status) string { return strings.ReplaceAll(s.String(), "-", "") }

// mermaidBoxes numbers the steps, because ids in mermaid allow only few characters.
func mermaidBoxes(b *strings.Builder, boxes []Box, indent string, ids map[string]string, run bool) {
	id := func(path string) string {
		if ids[path] == "" {
			ids[path] = fmt.Sprintf("s%d", len(ids)+1)
		}
		return ids[path]
	}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, "#quot;") + `"` }
	for _, x := range boxes {
		open, shut := "[", "]"
		if x.Condition != "" {
			open, shut = "{{", "}}"
		}
		class := ""
		if run {
			class = ":::" + mermaidClass(x.Status)
		}
		fmt.Fprintf(b, "%s%s%s%s%s%s\n", indent, id(x.ID), open, quote(withOutcome(x, run, "<br/>")), shut, class)
		for _, up := range x.After {
			fmt.Fprintf(b, "%s%s --> %s\n", indent, id(up), id(x.ID))
		}
		if len(x.Inside) > 0 {
			fmt.Fprintf(b, "%ssubgraph %s_inside[%s]\n", indent, id(x.ID), quote(x.Name+" ("+x.Kind+")"))
			mermaidBoxes(b, x.Inside, indent+"  ", ids, run)
			fmt.Fprintf(b, "%send\n", indent)
		}
	}
}
