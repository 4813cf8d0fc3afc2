package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// restorer finds which streams of kept steps the steps still to run will read, and restores them to memory: a journal
// holds only the beginning of what a step printed.
type restorer struct {
	*Continuation
	kept, active  map[dag.ID]bool // active: the step will run, or a step inside it
	results       map[dag.ID]*dag.Result
	outputs       map[string]bool  // path prefixes of tools whose output template was already checked
	restoredBytes map[dag.ID]int64 // bytes restored so far of the items of a loop
	missing       []missingStream
}

// missingStream is a kept step whose output is not available although a step still to run reads it.
type missingStream struct {
	path, reader dag.ID
	why          error
}

// missing restores the streams that are needed, and returns those that are not available.
func (g *Continuation) missing(state *dag.State) []missingStream {
	n := &restorer{Continuation: g, kept: map[dag.ID]bool{}, active: map[dag.ID]bool{}, results: map[dag.ID]*dag.Result{}, outputs: map[string]bool{}, restoredBytes: map[dag.ID]int64{}}
	for _, path := range g.Kept {
		n.kept[path] = true
	}
	for _, path := range slices.Concat(g.Reset, g.Left, g.Held, g.Waiting) {
		n.active[path] = state.Status(path) != dag.Waiting // a waiting step has already read its inputs
		for _, outer := range path.Ancestors() {
			n.active[outer] = true
		}
	}
	var paths []dag.ID
	state.All(func(path dag.ID, node *dag.Node, status dag.Status, r *dag.Result) {
		if status == dag.Running && (node.Graph != nil || node.Each != nil) { // everything inside may have ended, but its own result is still to be made
			n.active[path] = true
		}
		n.results[path] = r
		paths = append(paths, path)
	})
	for _, path := range paths {
		n.step(path)
	}
	slices.SortFunc(n.missing, func(x, y missingStream) int { return strings.Compare(string(x.path), string(y.path)) })
	return slices.CompactFunc(n.missing, func(x, y missingStream) bool { return x.path == y.path })
}

// step restores the streams that one step reads, and those in the output template of its tool.
func (n *restorer) step(path dag.ID) {
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
	if n.outputs[prefix] {
		return
	}
	n.outputs[prefix] = true
	var reader dag.ID
	if len(holders) > 0 {
		if reader = holders[len(holders)-1]; !n.active[reader] {
			return
		}
	}
	read := in.ReadAtEnd()
	if in.PassesOutputs() && reader != "" {
		read[in.Steps[0].Def.Name] |= steps.Outputs
	}
	for name, streams := range read {
		n.read(dag.ID(prefix+name), reader, streams)
	}
}

// item restores what a kept item printed, because its loop collects that: up to the limit that the loop keeps of all
// its items.
func (n *restorer) item(path, loop dag.ID, keep int64) {
	n.read(path, loop, steps.Outputs)
	r := n.results[path]
	if r == nil || r.Stdout == nil {
		return
	}
	if n.restoredBytes[loop] += r.Stdout.Size; n.restoredBytes[loop] > keep {
		r.Stdout.Truncated = true
		return
	}
	n.read(path, loop, steps.Stdout)
}

// beside returns the path of the step that the step at path refers to by name: a sibling of the step itself, or of a
// group or loop around it.
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

// read restores streams of a step, if the step is kept.
func (n *restorer) read(path, reader dag.ID, streams steps.Streams) {
	r := n.results[path]
	if !n.kept[path] || r == nil {
		return
	}
	if streams&steps.Outputs != 0 {
		if _, why := r.Outputs.All(); why != nil {
			n.missing = append(n.missing, missingStream{path, reader, why})
		}
	}
	if streams&steps.Artifacts != 0 {
		if why := n.checkArtifacts(path, r.Artifacts()); why != nil {
			n.missing = append(n.missing, missingStream{path, reader, why})
		}
	}
	for which, o := range map[steps.Streams]*dag.Output{steps.Stdout: r.Stdout, steps.Stderr: r.Stderr} {
		if o == nil || streams&which == 0 {
			continue
		}
		if why := output.Restore(o, n.limit(path, o)); why != nil {
			n.missing = append(n.missing, missingStream{path, reader, why})
		}
	}
}

// checkArtifacts verifies the artifacts of a kept step, or of the steps inside it.
func (n *restorer) checkArtifacts(path dag.ID, list []dag.Artifact) error {
	for _, a := range list {
		if a.Digest == "" { // those of steps inside
			continue
		}
		if err := artifact.Check(a); err != nil {
			return fmt.Errorf("cannot use the artifact %s of an earlier step: %w; run the step again", a.Name, err)
		}
	}
	for inner, r := range n.results {
		if r != nil && inner != path && plan.Inside(inner, path) {
			if err := n.checkArtifacts(inner, r.Artifacts()); err != nil {
				return err
			}
		}
	}
	return nil
}

// limit returns how much of a stream references could read before. What a step that uses a tool printed was printed
// by a step inside, so the limit of that step applies.
func (n *restorer) limit(path dag.ID, o *dag.Output) int64 {
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
