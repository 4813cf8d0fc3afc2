package engine

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/library"
)

// RetryOptions set how a run is retried.
type RetryOptions struct {
	From []string       // paths of steps that run again whatever their result
	Only string         // the one step to run; "" is all
	With map[string]any // parameters that change, and the secret ones
}

// Retry works out a new run that reuses what succeeded in this one. Every step that mentions a changed parameter runs
// again. Errors: ErrLive, ErrNotStarted, a *StepError, a *ParamsError, a *WithheldError, an *InterruptedError, an
// *OnlyError.
func (p *RecordedRun) Retry(lib *library.Library, o RetryOptions) (*Continuation, error) {
	if p.Info.Live() {
		return nil, fmt.Errorf("cannot retry run %s: %w", p.Record.ID, history.ErrLive)
	}
	if p.Info.Engine != "" {
		return nil, fmt.Errorf("cannot retry run %s: %w", p.Record.ID, outcome.ErrOtherEngine)
	}
	if err := p.checkStarted("retry"); err != nil {
		return nil, err
	}
	whole, err := p.plan(lib)
	if err != nil {
		return nil, err
	}
	g := &Continuation{recorded: p, plan: whole, Retry: true}
	from, err := g.locate(o.From)
	if err != nil {
		return nil, err
	}
	rules := dag.Rules{Anew: true, From: from, Rerun: func(path dag.ID, n *dag.Node) bool {
		return n.Cleanup || g.rule(path) == plan.RetryWhenInterrupted || slices.ContainsFunc(from, func(f dag.ID) bool { return plan.Inside(path, f) })
	}}
	var only []dag.ID
	if o.Only != "" {
		if only, err = g.locate([]string{o.Only}); err != nil {
			return nil, err
		}
		rules.From = slices.Concat(from, only)
		if g.plan, err = graph.Only(whole, o.Only); err != nil {
			return nil, err
		}
	}
	w := runEnvOf(p.Record)
	w.Time = time.Time{} // now
	if g.args, err = bindRecord(p.Record, g.plan, w, o.With); err != nil {
		return nil, err
	}
	for _, name := range p.changed(o.With) {
		rules.From = append(rules.From, g.plan.Mentioning(name)...)
	}
	if err := g.computeRemainder(rules); err != nil {
		return nil, err
	}
	if len(g.Interrupted) > 0 { // a new run cannot leave them out, and they must not run unasked
		return nil, &outcome.InterruptedError{Run: p.Record.ID, Steps: g.Interrupted, Retry: true}
	}
	if o.Only != "" {
		return g, g.checkOnly(only)
	}
	return g, nil
}

// locate returns the paths of steps as they are in the run's events, in their last attempt. A step in a loop that is
// named without an item stands for that step of every item. The error is a *StepError.
func (g *Continuation) locate(steps []string) ([]dag.ID, error) {
	var all []dag.ID
	for _, step := range steps {
		found := g.lastAttempts(dag.ID(step).WithoutAttempts())
		if len(found) == 0 {
			return nil, g.recorded.Plan.compiled.NoStep(step)
		}
		all = append(all, found...)
	}
	return all, nil
}

// lastAttempts returns the last attempts of the steps that a path names.
func (g *Continuation) lastAttempts(want dag.ID) []dag.ID {
	if _, s := g.plan.Find(want); s == nil {
		return nil
	}
	var list []dag.ID
	known := map[dag.ID]int{}
	note := func(id dag.ID, _ *dag.Node, _ dag.Status, _ *dag.Result) {
		step := id.WithoutAttempts()
		if !want.Names(step) {
			return
		}
		if i, again := known[step]; again {
			list[i] = id
			return
		}
		known[step] = len(list)
		list = append(list, id)
	}
	g.recorded.readState(func(s *dag.State) { s.All(note) })
	if len(list) == 0 && !strings.Contains(string(want), "[") { // only the run knows whether there is such an item
		list = []dag.ID{want}
	}
	return list
}

// checkOnly returns an *OnlyError if more than the named steps would have to run.
func (g *Continuation) checkOnly(only []dag.ID) error {
	for _, path := range slices.Concat(g.Reset, g.Left, g.Held, g.Waiting) {
		if _, s := g.plan.Find(path); s == nil || slices.Contains(only, path) {
			continue
		}
		if !slices.ContainsFunc(only, func(id dag.ID) bool { return plan.Inside(id, path) }) {
			return &outcome.OnlyError{Step: string(nearestTo(path, only)), Missing: string(path)}
		}
	}
	return nil
}

// nearestTo returns the step that is nearest to a path: one in the same item.
func nearestTo(path dag.ID, steps []dag.ID) dag.ID {
	return slices.MaxFunc(steps, func(x, y dag.ID) int { return cmp.Compare(commonAncestors(x, path), commonAncestors(y, path)) })
}

// commonAncestors returns how many ancestors two paths have in common.
func commonAncestors(x, y dag.ID) (n int) {
	others := y.Ancestors()
	for i, h := range x.Ancestors() {
		if i == len(others) || h != others[i] {
			break
		}
		n++
	}
	return n
}

// changed returns the parameters that differ from those of the recorded run: those with a new value, and those whose
// default mentions one of them. A secret one cannot be compared and counts as unchanged.
func (p *RecordedRun) changed(with map[string]any) []string {
	var list []string
	for _, prm := range p.Plan.compiled.Params { // in the order of their defaults
		name := prm.Def.Name
		was, given := p.Record.Given[name]
		now, again := with[name]
		switch {
		case slices.Contains(p.Record.Withheld, name), again && given && rawtext.Equal(was, now):
		case again:
			list = append(list, name)
		case !given && prm.Initial != nil && slices.ContainsFunc(prm.Initial.Refs(), func(r expr.Ref) bool {
			return r.Class == expr.Parameter && slices.Contains(list, r.Root)
		}):
			list = append(list, name)
		}
	}
	return list
}

// retryEvents returns the opening events of a new run that reuses the kept results of an old one, with their logs.
// dir is the new run's log folder.
func (g *Continuation) retryEvents(dir string) ([]dag.Event, error) {
	kept := map[dag.ID]bool{}
	for _, path := range g.Kept {
		kept[path] = true
	}
	partly := map[dag.ID]bool{}
	for path := range kept {
		for _, outer := range path.Ancestors() {
			partly[outer] = true
		}
	}
	list := []dag.Event{{Kind: dag.RunStarted}}
	adopted := map[string]string{} // paths of artifacts, as they were and as they are now
	var err error
	state := g.recorded.fold(g.plan, nil)
	state.All(func(path dag.ID, n *dag.Node, _ dag.Status, r *dag.Result) {
		at := path.WithoutAttempts()
		switch {
		case err != nil:
		case kept[path] && r != nil:
			var reused *dag.Result
			if reused, err = g.reusedResult(path, at, r, dir); err == nil {
				err = adoptArtifacts(dir, at, reused, adopted)
			}
			if err == nil {
				list = append(list, dag.Event{Kind: dag.StepFinished, Node: at, Attempt: reused.Attempts, Reason: reused.Reason, Result: reused})
			}
		case partly[path] && n.Each != nil:
			list = append(list, dag.Event{Kind: dag.StepStarted, Node: at, Attempt: 1})
			if e := state.Expanded(path); e != nil {
				e.Node = at
				list = append(list, *e)
			}
		case partly[path] && n.Graph != nil:
			list = append(list, dag.Event{Kind: dag.StepStarted, Node: at, Attempt: 1})
		}
	})
	for _, e := range list {
		if e.Result != nil && err == nil {
			err = adoptPaths(dir, e.Result.Artifacts(), adopted)
		}
	}
	return list, err
}

// adoptArtifacts makes the artifacts of a reused result those of this run, whose log folder is dir. Those that are gone
// are left out: no step still to run reads them.
func adoptArtifacts(dir string, step dag.ID, r *dag.Result, adopted map[string]string) error {
	var mine []dag.Artifact
	for _, a := range r.Artifacts() {
		if a.Digest != "" && dir != "" {
			own, err := artifact.Adopt(artifactsBeside(dir), step, a)
			switch {
			case errors.Is(err, artifact.ErrGone):
				continue
			case err != nil:
				return err
			}
			adopted[a.Path] = own.Path
			a = own
		}
		a.Paths = slices.Clone(a.Paths)
		mine = append(mine, a)
	}
	r.SetArtifacts(mine)
	return nil
}

// artifactsBeside returns the folder for artifacts of the run with that log folder.
func artifactsBeside(logs string) string { return filepath.Join(filepath.Dir(logs), "artifacts") }

// adoptPaths does the same for the artifacts of steps inside a reused loop, group or nested tool, which only has their
// paths.
func adoptPaths(dir string, list []dag.Artifact, adopted map[string]string) error {
	for i := range list {
		a := &list[i]
		if a.Digest != "" || dir == "" {
			continue
		}
		paths := a.Paths
		if a.Path != "" {
			paths = []string{a.Path}
		}
		for k, path := range paths {
			if adopted[path] == "" {
				mine, err := artifact.Adopt(artifactsBeside(dir), "", dag.Artifact{Name: a.Name, Path: path})
				if err != nil && !errors.Is(err, artifact.ErrGone) {
					return err
				}
				adopted[path] = mine.Path
			}
			paths[k] = adopted[path]
		}
		if a.Path != "" {
			a.Path = paths[0]
		}
	}
	return nil
}

// reusedResult returns a copy of a result for a new run.
func (g *Continuation) reusedResult(path, at dag.ID, r *dag.Result, dir string) (*dag.Result, error) {
	reused := *r
	switch {
	case reused.Status == dag.Succeeded:
		reused.Status = dag.Reused
	case reused.Status == dag.Reused: // from the cache then; now from that run
		reused.Reason = ""
	}
	for _, s := range []struct {
		o     **dag.Output
		which rundir.Stream
	}{{&reused.Stdout, rundir.Stdout}, {&reused.Stderr, rundir.Stderr}} {
		if *s.o == nil {
			continue
		}
		o := **s.o
		o.Times = "" // those of another run
		if o.File != "" && dir != "" {
			file, err := rundir.AdoptLog(dir, at, max(r.Attempts, 1), s.which, o.File)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("cannot copy the log of step %s: %w", path, err)
			}
			o.File = file // "" if the log is gone; what later steps read of it is in memory
		}
		*s.o = &o
	}
	return &reused, nil
}
