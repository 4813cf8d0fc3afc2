package drawing

import (
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
)

// Box is one step in a drawing of a graph.
type Box struct {
	ID        string // path
	Name      string
	Kind      string // bash, run, ..., or the name of the tool it uses
	Condition string
	Note      string   // written beside the name: what it loops over, when it runs
	After     []string // ids of the boxes that it waits for directly, without those that follow from others
	Inside    []Box    // a nested tool's steps
	Loop      bool     // it runs once for each item
	Join      bool     // no step, made by Place: what waits for it waits for all of After

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
	steps := p.Steps()
	*left -= len(steps)
	boxes := make([]Box, 0, len(steps))
	for _, name := range steps {
		s := p.Step(name)
		b := Box{ID: prefix + name, Name: name, Kind: string(s.Kind()), Note: stepRole(p, name), Loop: s.Loop != nil,
			After: plan.Prefixed(prefix, p.Upstream(name))}
		if s.RunCondition != nil {
			b.Condition = s.RunCondition.S
		}
		if inner := p.Nested(name); inner != nil {
			if s.Steps() == nil {
				b.Kind = inner.Name()
			}
			if inner.Graph().Len() <= *left {
				b.Inside = boxesOf(inner, b.ID+"/", left)
			}
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
