package drawing

import (
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// Box is one step in a drawing of a graph.
type Box struct {
	ID        string // path
	Name      string
	Kind      string // bash, run, ..., or the name of the tool it uses
	Condition string
	Note      string   // written beside the name: what it loops over, when it runs
	After     []string // ids of upstream boxes
	Inside    []Box    // a nested tool's steps
	Loop      bool     // it runs once for each item
	Join      bool     // no step: what waits for it waits for all of After

	// The result of the step in a run. If all boxes are dag.Pending, no results are drawn.
	Status   dag.Status
	Duration time.Duration // 0 if not known
}

// maxBoxes limits a drawing: when there are more boxes, nested tools are drawn as one step. A
// small definition can have very many steps in tools that use tools.
const maxBoxes = 20_000

// Boxes returns the boxes of a plan's steps.
func Boxes(p *engine.Plan) []Box {
	left := maxBoxes
	return boxesOf(p, "", &left)
}

func boxesOf(p *engine.Plan, prefix string, left *int) []Box {
	nodes := p.Graph().Nodes()
	*left -= len(nodes)
	boxes := make([]Box, 0, len(nodes))
	for _, n := range nodes {
		b := Box{ID: prefix + string(n.ID), Name: string(n.ID)}
		for _, up := range n.After {
			b.After = append(b.After, prefix+string(up))
		}
		switch s := p.Step(b.Name); {
		case s != nil:
			b.Kind, b.Note, b.Loop = string(s.Kind()), stepRole(p, b.Name), s.Loop != nil
			if s.RunCondition != nil {
				b.Condition = s.RunCondition.S
			}
			if inner := p.Nested(b.Name); inner != nil {
				if s.Steps() == nil {
					b.Kind = inner.Name()
				}
				if inner.Graph().Len() <= *left {
					b.Inside = boxesOf(inner, b.ID+"/", left)
				}
			}
		case n.Runner != nil: // the cleanup of the tool
			continue
		default:
			b.Join = true
		}
		boxes = append(boxes, b)
	}
	return boxes
}

// stepRole describes when a step runs (as a handler) and how often (as a loop).
func stepRole(p *engine.Plan, step string) string {
	var words []string
	switch key, of := p.Handler(step); {
	case of != "":
		words = append(words, key+" of "+of)
	case key != "":
		words = append(words, key)
	}
	switch l := p.Step(step).Loop; {
	case l == nil:
	case l.Matrix():
		words = append(words, "matrix")
	default:
		words = append(words, "for-each")
	}
	if p.Step(step).Repeat != nil {
		words = append(words, "repeat")
	}
	return strings.Join(words, ", ")
}

// withoutJoins returns the boxes of steps only. A step waits for what its joins wait for.
func withoutJoins(boxes []Box) []Box {
	index := indexOf(boxes)
	var steps []Box
	for _, b := range boxes {
		if b.Join {
			continue
		}
		var after []string
		seen := map[string]bool{}
		var walk func(ids []string)
		walk = func(ids []string) {
			for _, id := range ids {
				i, known := index[id]
				switch {
				case !known || seen[id]:
				case boxes[i].Join:
					seen[id] = true
					walk(boxes[i].After)
				default:
					seen[id] = true
					after = append(after, id)
				}
			}
		}
		walk(b.After)
		b.After, b.Inside = after, withoutJoins(b.Inside)
		steps = append(steps, b)
	}
	return steps
}

// indexOf returns the index of each box by its id.
func indexOf(boxes []Box) map[string]int {
	index := make(map[string]int, len(boxes))
	for i, b := range boxes {
		index[b.ID] = i
	}
	return index
}

func anyRan(boxes []Box) bool {
	return slices.ContainsFunc(boxes, func(b Box) bool { return b.Status != dag.Pending || anyRan(b.Inside) })
}
