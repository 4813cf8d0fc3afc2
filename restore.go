package flowrun

import (
	"math"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/steps"
)

// needs finds what the steps still to run read of those that are kept, and puts it
// back into memory: a journal holds only the beginning of what a step printed.
type needs struct {
	*Continuation
	kept, active map[dag.ID]bool // active: runs, or something inside does
	results      map[dag.ID]*dag.Result
	outputs      map[string]bool  // beginnings of paths whose tool's output template was looked at
	gathered     map[dag.ID]int64 // bytes of the items of a loop
	lost         []lostStream
}

// lostStream is a kept step whose output a step still to run reads, and which is
// not to be had.
type lostStream struct {
	path, reader dag.ID
	why          error
}

// missing restores what is needed, and answers what of it is not to be had.
func (g *Continuation) missing(state *dag.State) []lostStream {
	n := &needs{Continuation: g, kept: map[dag.ID]bool{}, active: map[dag.ID]bool{}, results: map[dag.ID]*dag.Result{}, outputs: map[string]bool{}, gathered: map[dag.ID]int64{}}
	for _, path := range g.Kept {
		n.kept[path] = true
	}
	for _, path := range slices.Concat(g.Reset, g.Left, g.Waiting) {
		n.active[path] = state.Status(path) != dag.Waiting // which has read what it reads
		for _, outer := range path.Ancestors() {
			n.active[outer] = true
		}
	}
	var paths []dag.ID
	state.All(func(path dag.ID, node *dag.Node, status dag.Status, r *dag.Result) {
		if status == dag.Running && (node.Graph != nil || node.Each != nil) { // all in it has ended, it may be, but its own result is due
			n.active[path] = true
		}
		n.results[path] = r
		paths = append(paths, path)
	})
	for _, path := range paths {
		n.step(path)
	}
	slices.SortFunc(n.lost, func(x, y lostStream) int { return strings.Compare(string(x.path), string(y.path)) })
	return slices.CompactFunc(n.lost, func(x, y lostStream) bool { return x.path == y.path })
}

// step looks at what one step reads, and at what its tool's output is made of.
func (n *needs) step(path dag.ID) {
	in, s := n.plan.Find(path)
	if s == nil {
		return
	}
	holders := path.Ancestors()
	if n.active[path] {
		for name, streams := range s.Mentioned {
			n.read(beside(path, name, n.results), path, streams)
		}
	} else if around := len(holders) - 1; s.Loop != nil && around >= 0 && n.active[holders[around]] && strings.HasSuffix(string(path), "]") {
		n.item(path, holders[around], s.Loop.Keep)
	}
	prefix := strings.TrimSuffix(string(path), string(path.Base()))
	if in.Output == nil || n.outputs[prefix] {
		return
	}
	n.outputs[prefix] = true
	var reader dag.ID
	if len(holders) > 0 {
		if reader = holders[len(holders)-1]; !n.active[reader] {
			return
		}
	}
	mentioned := map[string]steps.Streams{}
	for _, r := range in.Output.Refs() {
		plan.Mention(mentioned, r)
	}
	for name, streams := range mentioned {
		n.read(dag.ID(prefix+name), reader, streams)
	}
}

// item restores what a kept item printed, which its loop gathers: up to what the loop
// keeps of all its items.
func (n *needs) item(path, loop dag.ID, keep int64) {
	r := n.results[path]
	if r == nil || r.Stdout == nil {
		return
	}
	if n.gathered[loop] += r.Stdout.Size; n.gathered[loop] > keep {
		r.Stdout.Truncated = true
		return
	}
	n.read(path, loop, steps.Stdout)
}

// beside is the path of a step that another one, at path, calls by its name: it
// stands beside it, or beside a group or a loop around it.
func beside(path dag.ID, name string, known map[dag.ID]*dag.Result) dag.ID {
	for {
		near := dag.ID(strings.TrimSuffix(string(path), string(path.Base())) + name)
		holders := path.Ancestors()
		if _, there := known[near]; there || len(holders) == 0 {
			return near
		}
		path = holders[len(holders)-1]
	}
}

// read restores streams of a step.
func (n *needs) read(path, reader dag.ID, streams steps.Streams) {
	r := n.results[path]
	if !n.kept[path] || r == nil {
		return
	}
	for which, o := range map[steps.Streams]*dag.Output{steps.Stdout: r.Stdout, steps.Stderr: r.Stderr} {
		if o == nil || streams&which == 0 {
			continue
		}
		if why := steps.Restore(o, n.limit(path, o)); why != nil {
			n.lost = append(n.lost, lostStream{path, reader, why})
		}
	}
}

// limit is how much of a stream references saw. What a step that uses a tool printed
// was printed by a step inside.
func (n *needs) limit(path dag.ID, o *dag.Output) int64 {
	if !o.Truncated {
		return math.MaxInt64
	}
	for id, r := range n.results {
		_, s := n.plan.Find(id)
		if s == nil {
			continue
		}
		if base := s.BaseCommand(); base != nil && base.Limit > 0 && (id == path || r != nil && r.Stdout != nil && r.Stdout.File == o.File) {
			return base.Limit
		}
	}
	return steps.DefaultLimit
}
