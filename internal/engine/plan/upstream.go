package plan

import (
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
)

// upstream holds for each node of a graph the steps that it waits for directly. It is computed when it is first asked for.
type upstream struct {
	once  sync.Once
	steps map[string][]string
}

// SetGraph sets the graph that the plan runs.
func (p *Plan) SetGraph(g *dag.Graph) { p.Graph, p.upstream = g, new(upstream) }

// Direct returns the steps that a step of the plan waits for directly, in plan order: without joins, and without those
// that another of them waits for, directly or not. Every view of a graph shows these. Steps that wait for the same join
// share the slice, which must not be changed.
func (p *Plan) Direct(step string) []string {
	p.upstream.once.Do(func() { p.upstream.steps = directUpstream(p.Graph.Nodes()) })
	return p.upstream.steps[step]
}

// Upstream is Direct for a path of a run, which may be in a nested tool. Each result is in the same group, item and
// attempt as the step.
func (p *Plan) Upstream(step string) []string {
	in, s := p.Find(dag.ID(step))
	if s == nil {
		return nil
	}
	return Prefixed(strings.TrimSuffix(step, string(dag.ID(step).Base())), in.Direct(s.Def.Name))
}

// Prefixed returns names with a prefix; without a prefix it returns the same slice.
func Prefixed(prefix string, names []string) []string {
	if prefix == "" || names == nil {
		return names
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = prefix + name
	}
	return list
}

// directUpstream computes Direct for all nodes. First it removes the edges that follow from others, with the joins still
// in the graph; then each join is replaced by what it waits for, once for all that wait for it. In a list of steps that
// leaves one edge for each, so neither the time nor the memory grows like the square.
func directUpstream(nodes []dag.Node) map[string][]string {
	r := newReducer(nodes)
	r.after = r.reduce(r.after)
	var lists [][]int32
	listOf := make([]int, len(nodes))
	for i, after := range r.after {
		if len(after) == 1 && IsJoin(&nodes[after[0]]) {
			listOf[i] = listOf[after[0]]
			continue
		}
		var list []int32
		for _, up := range after {
			if IsJoin(&nodes[up]) {
				list = append(list, lists[listOf[up]]...)
			} else {
				list = append(list, up)
			}
		}
		listOf[i] = len(lists)
		lists = append(lists, sortedOnce(list))
	}
	names := make([][]string, len(lists))
	for k, list := range r.reduce(lists) {
		for _, up := range list {
			names[k] = append(names[k], string(nodes[up].ID))
		}
		names[k] = slices.Clip(names[k]) // it is shared: an append must copy it
	}
	steps := make(map[string][]string, len(nodes))
	for i := range nodes {
		steps[string(nodes[i].ID)] = names[listOf[i]]
	}
	return steps
}

// IsJoin reports whether a node is a join and not a step.
func IsJoin(n *dag.Node) bool { return n.Runner == nil && n.Graph == nil && n.Each == nil }

func sortedOnce(list []int32) []int32 {
	slices.Sort(list)
	return slices.Compact(list)
}
