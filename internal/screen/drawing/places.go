package drawing

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/screen/layout"
)

// Sizes of boxes in a drawing, in pixels.
const (
	boxHeight   = 44
	titleHeight = 36 // above the steps inside a box
	minBoxWidth = 140
	maxBoxWidth = 260
	glyphWidth  = 46  // beside the name, with the margins
	letterWidth = 7.3 // of a name
)

// Place lays out boxes. It returns them without superfluous joins, and a graph of which node i
// is box i, with the boxes inside it.
func Place(boxes []Box) ([]Box, *layout.Graph) {
	boxes, g := graphOf(boxes)
	g.Layout()
	return boxes, g
}

// graphOf returns boxes and their graph before it is laid out.
func graphOf(boxes []Box) ([]Box, *layout.Graph) {
	boxes = withSharedJoins(withoutSmallJoins(boxes))
	g := edgesOf(boxes)
	for i := range boxes {
		b := &boxes[i]
		if b.Join {
			continue
		}
		width := glyphWidth + letterWidth*float64(max(utf8.RuneCountInString(b.Name), utf8.RuneCountInString(b.subtitle())*5/6))
		g.Nodes[i] = layout.Node{W: int(max(minBoxWidth, min(maxBoxWidth, width))), H: boxHeight}
		if len(b.Inside) > 0 {
			g.Nodes[i].H = titleHeight
			b.Inside, g.Nodes[i].Inside = graphOf(b.Inside)
		}
	}
	return boxes, g
}

// subtitle returns what is written below the name.
func (b *Box) subtitle() string {
	if b.Note == "" {
		return b.Kind
	}
	return b.Kind + " · " + b.Note
}

// edgesOf returns a graph of the boxes, without sizes.
func edgesOf(boxes []Box) *layout.Graph {
	index, g := indexOf(boxes), &layout.Graph{Nodes: make([]layout.Node, len(boxes))}
	for i, b := range boxes {
		for _, up := range b.After {
			if from, known := index[up]; known {
				g.Edges = append(g.Edges, layout.Edge{From: from, To: i})
			}
		}
	}
	return g
}

// withoutSmallJoins removes the joins that save no edges: those that one box waits for, or
// that wait for one box.
func withoutSmallJoins(boxes []Box) []Box {
	boxes = reduce(boxes)
	index, waiting := indexOf(boxes), make([][]int, len(boxes))
	for i, b := range boxes {
		for _, up := range b.After {
			waiting[index[up]] = append(waiting[index[up]], i)
		}
	}
	gone := make([]bool, len(boxes))
	for i := range boxes {
		b := &boxes[i]
		if gone[i] = b.Join && (len(b.After) <= 1 || len(waiting[i]) <= 1); !gone[i] {
			continue
		}
		for _, down := range waiting[i] {
			d := &boxes[down]
			d.After = append(slices.DeleteFunc(slices.Clone(d.After), func(id string) bool { return id == b.ID }), b.After...)
		}
		for _, up := range b.After {
			k := index[up]
			waiting[k] = append(slices.DeleteFunc(waiting[k], func(down int) bool { return down == i }), waiting[i]...)
		}
	}
	kept := boxes[:0]
	for i, b := range boxes {
		if !gone[i] {
			kept = append(kept, b)
		}
	}
	return kept
}

// withSharedJoins adds a join where several boxes wait for the same boxes, if that saves edges.
func withSharedJoins(boxes []Box) []Box {
	waiting := map[string][]int{}
	for i, b := range boxes {
		slices.Sort(b.After)
		key := strings.Join(b.After, "\n")
		waiting[key] = append(waiting[key], i)
	}
	var out []Box
	for i, b := range boxes {
		list := waiting[strings.Join(b.After, "\n")]
		if n, m := len(b.After), len(list); n > 1 && m > 1 && n*m > n+m {
			join := Box{ID: "@" + boxes[list[0]].ID, Join: true, After: b.After}
			if i == list[0] {
				out = append(out, join)
			}
			b.After = []string{join.ID}
		}
		out = append(out, b)
	}
	return out
}

// reduce removes arrows that follow from a longer path, and those from unknown boxes.
func reduce(boxes []Box) []Box {
	g := edgesOf(boxes)
	g.Reduce()
	kept := make(map[[2]int]bool, len(g.Edges))
	for _, e := range g.Edges {
		kept[[2]int{e.From, e.To}] = true
	}
	index, out := indexOf(boxes), slices.Clone(boxes)
	for i, b := range boxes {
		out[i].After = nil
		for _, up := range b.After {
			if from, known := index[up]; known && kept[[2]int{from, i}] {
				out[i].After = append(out[i].After, up)
			}
		}
	}
	return out
}
