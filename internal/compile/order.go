package compile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// edge is one explicit reason to wait: a wait-for entry or a mention.
type edge struct {
	to  string
	at  *tool.Text // that it is written in
	off int        // where in at; the place in the file is looked up when it is reported
}

func (e edge) pos() tool.Pos { return e.at.At(e.off) }

// ordered is a step with its place in the plan.
type ordered struct {
	step  *tool.Step
	after []dag.ID
}

// order works out plan order and edges.
//
// Plan order is a depth-first walk over the explicit edges in declaration order,
// so a step named early moves before the one that names it. A sequential step
// waits for everything before it in plan order, a parallel step for what the step
// before it waits for; wait-for replaces both; mentions add theirs. "Everything
// before" is a join node for each sequential step (two kinds of edges in, one
// out), so edges stay linear in the number of steps.
//
// The answer holds the steps in plan order, and the join nodes to put before
// each.
func order(steps []*tool.Step, explicit map[*tool.Step][]edge) (plan []ordered, joins map[string]dag.Node, ds tool.Diagnostics) {
	sorted, ds := planOrder(steps, explicit)
	if len(ds) > 0 {
		return nil, nil, ds
	}
	joins = map[string]dag.Node{}
	plan = make([]ordered, 0, len(sorted))
	var (
		before   dag.ID   // stands for everything up to the last join
		since    []dag.ID // steps after that
		previous []dag.ID // what the step before waits for
	)
	for _, s := range sorted {
		var after []dag.ID
		switch {
		case s.HasWaitFor:
		case s.Parallel:
			after = slices.Clone(previous)
		default:
			if before, since = everything(before, since, s.Name, joins); before != "" {
				after = []dag.ID{before}
			}
		}
		after = addEdges(after, explicit[s])
		plan = append(plan, ordered{s, after})
		previous, since = after, append(since, dag.ID(s.Name))
		if s.Handlers.Empty() {
			continue
		}
		s.Handlers.Each(func(h *tool.Step) { since = append(since, dag.ID(h.Name)) })
	}
	return plan, joins, nil
}

// addEdges adds what a step waits for explicitly, each once.
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

// everything is one id that stands for all that came before: the only step so
// far, the last join where nothing came since, or a new join in front of step
// name. '@' keeps its id apart from every step's.
func everything(before dag.ID, since []dag.ID, name string, joins map[string]dag.Node) (dag.ID, []dag.ID) {
	switch {
	case len(since) == 0:
		return before, nil
	case before == "" && len(since) == 1:
		return since[0], nil
	case before != "":
		since = append([]dag.ID{before}, since...)
	}
	id := dag.ID("@" + name)
	joins[name] = dag.Node{ID: id, After: since}
	return id, nil
}

// planOrder sorts the steps and finds circles.
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
		case to == nil: // diagnosed where it was written
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
	circle := append(slices.Clone(o.path[from:]), e.to)
	o.problems = append(o.problems, tool.Diagnostic{
		Code: "cycle", Severity: tool.Error, Pos: e.pos(), Len: len(e.to),
		Message: fmt.Sprintf("steps wait for each other in a cycle: %s", strings.Join(circle, " waits for ")),
		Hint:    "remove one of these wait-for entries or references",
	})
}
