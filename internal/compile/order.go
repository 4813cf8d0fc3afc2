package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// edge is one explicit dependency on a step: an entry of wait-for, or a reference.
type edge struct {
	to   string
	text *tool.Text // the text that contains it
	off  int        // offset in at; converted to a position only when a problem is reported
}

func (e edge) pos() tool.Pos { return e.text.At(e.off) }

// orderedStep is a step with its edges.
type orderedStep struct {
	step  *tool.Step
	after []dag.ID
}

// order determines the plan order and the edges.
//
// The plan order is a depth-first walk over the explicit edges in the order of the file, so a step that is referred to
// comes before the step that refers to it. A sequential step waits for everything before it in plan order. A parallel
// step waits for the same steps as the step before it. wait-for replaces these edges; references add further ones.
// "Everything before" is one join node for each sequential step, so the number of edges is linear in the number of
// steps.
//
// It returns the steps in plan order, and the join nodes to add before them, by the name of the step.
func order(steps []*tool.Step, explicit map[*tool.Step][]edge) (plan []orderedStep, joins map[string]dag.Node, ds tool.Diagnostics) {
	sorted, ds := planOrder(steps, explicit)
	if len(ds) > 0 {
		return nil, nil, ds
	}
	joins = map[string]dag.Node{}
	plan = make([]orderedStep, 0, len(sorted))
	var (
		before   dag.ID   // represents everything up to the last join
		since    []dag.ID // steps after the last join
		previous []dag.ID // edges of the previous step
	)
	for _, s := range sorted {
		var after []dag.ID
		switch {
		case s.HasWaitFor:
		case s.Parallel:
			after = slices.Clone(previous)
		default:
			if before, since = joinBefore(before, since, s.Name, joins); before != "" {
				after = []dag.ID{before}
			}
		}
		after = addEdges(after, explicit[s])
		plan = append(plan, orderedStep{s, after})
		previous, since = after, append(since, dag.ID(s.Name))
		if s.Handlers.Empty() {
			continue
		}
		s.Handlers.Each(func(h *tool.Step) { since = append(since, dag.ID(h.Name)) })
	}
	return plan, joins, nil
}

// addEdges adds explicit edges, without duplicates.
func addEdges(after []dag.ID, edges []edge) []dag.ID {
	if len(edges) == 0 {
		return after
	}
	has := make(map[dag.ID]bool, len(after)+len(edges))
	for _, id := range after {
		has[id] = true
	}
	for _, e := range edges {
		if id := dag.ID(e.to); !has[id] {
			has[id] = true
			after = append(after, id)
		}
	}
	return after
}

// joinBefore returns one ID that represents all steps before the step name: the only step so far, the last join if no
// step came after it, or a new join.
func joinBefore(before dag.ID, since []dag.ID, name string, joins map[string]dag.Node) (dag.ID, []dag.ID) {
	switch {
	case len(since) == 0:
		return before, nil
	case before == "" && len(since) == 1:
		return since[0], nil
	case before != "":
		since = append([]dag.ID{before}, since...)
	}
	id := joinID(name)
	joins[name] = dag.Node{ID: id, After: since}
	return id, nil
}

// joinID returns the ID of the join in front of a step. Names of steps have no '@'. The IDs of the engine's other nodes,
// plan.CleanupID and those of gateID, begin differently, so a step can have any name.
func joinID(step string) dag.ID { return dag.ID("@before@" + step) }

// planOrder sorts the steps and reports cycles.
func planOrder(steps []*tool.Step, explicit map[*tool.Step][]edge) ([]*tool.Step, tool.Diagnostics) {
	o := orderer{byName: make(map[string]*tool.Step, len(steps)), explicit: explicit, state: make(map[*tool.Step]int, len(steps))}
	for _, s := range steps {
		o.byName[s.Name] = s
	}
	for _, s := range steps {
		if o.state[s] == 0 {
			o.visit(s)
		}
	}
	return o.sorted, o.problems
}

type orderer struct {
	byName   map[string]*tool.Step
	explicit map[*tool.Step][]edge
	state    map[*tool.Step]int // 0 new, 1 on the path, 2 done
	path     []string
	sorted   []*tool.Step
	problems tool.Diagnostics
}

func (o *orderer) visit(s *tool.Step) {
	o.state[s] = 1
	o.path = append(o.path, s.Name)
	for _, e := range o.explicit[s] {
		to := o.byName[e.to]
		switch {
		case to == nil: // reported elsewhere
		case o.state[to] == 1:
			o.cycle(e)
		case o.state[to] == 0:
			o.visit(to)
		}
	}
	o.path = o.path[:len(o.path)-1]
	o.state[s] = 2
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
