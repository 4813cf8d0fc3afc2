package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// edge is one explicit dependency on a step: an entry of wait-for, or a reference.
type edge struct {
	to   string
	text *tool.Text // the text that contains it
	off  int        // offset in at; converted to a position only when a problem is reported
}

func (e edge) pos() tool.Pos { return e.text.At(e.off) }

// listed is a step of a list that is to be ordered.
type listed struct {
	def      *tool.Step
	compiled *plan.Step
	handlers []*plan.Step
	explicit []edge
	state    walkState
}

// walkState is how far the depth-first walk over the steps has come with one of them.
type walkState uint8

const (
	unvisited walkState = iota
	onPath
	visited
)

// isSequential reports whether the step waits for everything before it.
func (s *listed) isSequential() bool { return !s.def.HasWaitFor && !s.def.Parallel }

// isBesideOther reports whether the step waits for the same steps as the one before it.
func (s *listed) isBesideOther() bool { return !s.def.HasWaitFor && s.def.Parallel }

// order determines the plan order, and sets the edges of the steps and the joins before them.
//
// The plan order is a depth-first walk over the explicit edges in the order of the file, so a step that is referred to
// comes before the step that refers to it. A sequential step waits for everything before it in plan order. A parallel
// step waits for the same steps as the step before it. wait-for replaces these edges; references add further ones.
// "Everything before" is one join node for each sequential step, and so are "the same steps" for a parallel one, so the
// number of edges is linear in the number of steps.
//
// It returns the steps in plan order.
func order(list []listed) (sorted []*listed, ds tool.Diagnostics) {
	sorted, ds = planOrder(list)
	if len(ds) > 0 {
		return nil, ds
	}
	var (
		before   []dag.ID // the last join of everything before a step, and the steps after that
		previous []dag.ID // what the previous step waits for; one join if there is more and another step waits for it too
	)
	for i, s := range sorted {
		var waits []dag.ID
		switch {
		case s.isSequential():
			waits = before // its references are to some of these
		case s.isBesideOther():
			waits = addEdges(previous, s.explicit)
		default:
			waits = addEdges(nil, s.explicit)
		}
		if s.isSequential() || i+1 < len(sorted) && sorted[i+1].isBesideOther() {
			waits, s.compiled.Join = joined(waits, s.def.Name)
		}
		if s.isSequential() {
			before = waits
		}
		s.compiled.After, previous = addEdges(waits, s.explicit), waits // a step can read what it refers to only if it waits for it itself
		before = append(before, dag.ID(s.def.Name))
		if !s.def.Handlers.Empty() {
			s.def.Handlers.Each(func(h *tool.Step) { before = append(before, dag.ID(h.Name)) })
		}
	}
	return sorted, nil
}

// addEdges adds explicit edges, without duplicates. An append to the result copies it.
func addEdges(after []dag.ID, edges []edge) []dag.ID {
	if len(edges) == 0 {
		return after
	}
	has := make(map[dag.ID]bool, len(after)+len(edges))
	for _, id := range after {
		has[id] = true
	}
	var more []dag.ID
	for _, e := range edges {
		if id := dag.ID(e.to); !has[id] {
			has[id] = true
			more = append(more, id)
		}
	}
	if len(more) == 0 {
		return after
	}
	return slices.Clip(slices.Concat(after, more)) // not larger than what a plan keeps
}

// joined returns at most one ID that represents all of ids, and the join in front of the step name if it needs one. An
// append to the result copies it.
func joined(ids []dag.ID, name string) ([]dag.ID, *dag.Node) {
	if len(ids) <= 1 {
		return slices.Clip(ids), nil
	}
	id := joinID(name)
	return []dag.ID{id}, &dag.Node{ID: id, After: ids}
}

// joinID returns the ID of the join in front of a step. Names of steps have no '@'. The IDs of the engine's other nodes,
// plan.CleanupID and those of gateID, begin differently, so a step can have any name.
func joinID(step string) dag.ID { return dag.ID("@before@" + step) }

// planOrder sorts the steps and reports cycles.
func planOrder(list []listed) ([]*listed, tool.Diagnostics) {
	o := orderer{byName: make(map[string]*listed, len(list)), sorted: make([]*listed, 0, len(list))}
	for i := range list {
		o.byName[list[i].def.Name] = &list[i]
	}
	for i := range list {
		if list[i].state == unvisited {
			o.visit(&list[i])
		}
	}
	return o.sorted, o.problems
}

type orderer struct {
	byName   map[string]*listed
	path     []string
	sorted   []*listed
	problems tool.Diagnostics
}

func (o *orderer) visit(s *listed) {
	s.state = onPath
	o.path = append(o.path, s.def.Name)
	for _, e := range s.explicit {
		to := o.byName[e.to]
		switch {
		case to == nil: // reported elsewhere
		case to.state == onPath:
			o.cycle(e)
		case to.state == unvisited:
			o.visit(to)
		}
	}
	o.path = o.path[:len(o.path)-1]
	s.state = visited
	o.sorted = append(o.sorted, s)
}

func (o *orderer) cycle(e edge) {
	from := slices.Index(o.path, e.to)
	cycle := append(slices.Clone(o.path[from:]), e.to)
	o.problems = append(o.problems, tool.Diagnostic{
		Code: "cycle", Severity: tool.Error, Pos: e.pos(), Len: len(e.to),
		Message: fmt.Sprintf("steps wait for each other in a cycle: %s waits for %s", cycle[0], strings.Join(cycle[1:], ", which waits for ")),
		Hint:    "remove one of these wait-for entries or references",
	})
}
