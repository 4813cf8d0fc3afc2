package drawing

import (
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

// Place lays out boxes. It returns them with the joins that it adds, and a graph of which
// node i is box i, with the boxes inside it.
func Place(boxes []Box) ([]Box, *layout.Graph) {
	boxes, g := graphOf(boxes)
	g.Layout()
	return boxes, g
}

// graphOf returns boxes and their graph before it is laid out.
func graphOf(boxes []Box) ([]Box, *layout.Graph) {
	boxes = withSharedJoins(boxes)
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

// withSharedJoins adds a join where several boxes wait for the same several boxes.
func withSharedJoins(boxes []Box) []Box {
	waiting := map[string][]int{}
	for i, b := range boxes {
		key := strings.Join(b.After, "\n")
		waiting[key] = append(waiting[key], i)
	}
	var out []Box
	for i, b := range boxes {
		list := waiting[strings.Join(b.After, "\n")]
		if len(b.After) > 1 && len(list) > 1 {
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
