package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/lang/rewrite"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
	"github.com/flowrun/flowrun/library"
)

// record returns what the Store keeps of a run that is about to start.
func (j *job) record() *history.Record {
	a := j.args
	w := a.RunEnv
	r := &history.Record{ID: j.id, Tool: a.Plan.Name(), RetryOf: j.retryOf(), Origin: j.origin, Created: j.createdAt(), Params: a.Shown(), Given: map[string]any{},
		RunEnv: history.RecordedEnv{Workspace: w.Workspace, Home: w.Home, Temp: w.Temp, Time: w.Time, AllowDash: w.AllowDash, TrustedProject: w.Project},
		Only:   a.Plan.CutTo, WithoutUpstream: a.Plan.WithoutUpstream, Timeout: a.Plan.Timeout, Sources: keptSources(a), Trace: j.trace, Enforced: a.Confine.Enforced, Unenforced: j.unheld,
		Labels: j.shownLabels(), Flowrun: buildinfo.Release(), Variables: variableNames(w.Vars)}
	for name, v := range a.Given {
		if a.Plan.Secret(name) || !reflect.DeepEqual(a.Session().Mask().Value(v), v) {
			r.Withheld = append(r.Withheld, name)
			continue
		}
		r.Given[name] = v
	}
	slices.Sort(r.Withheld)
	if g := j.continuation; g != nil && g.Retry {
		r.Attempt, r.Automatic = attemptOf(g.recorded.Record)+1, g.automatic
	}
	return r
}

// shownLabels returns the labels of the run, in which texts that the session knows to be secret are masked.
func (j *job) shownLabels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, j.plan.Definition.Labels)
	if j.continuation != nil {
		maps.Copy(labels, j.continuation.recorded.Record.Labels)
	}
	maps.Copy(labels, j.labels)
	for name, value := range labels {
		labels[name] = j.args.Session().Mask().String(value)
	}
	if len(labels) == 0 {
		return nil
	}
	return labels
}

// maxVariableBytes limits the names of environment variables that a Record has. A longer list is not recorded.
const maxVariableBytes = 8 << 10

// variableNames returns the names of environment variables for a Record.
func variableNames(vars map[string]string) []string {
	var names []string
	size := 0
	for name := range vars {
		if name != "" { // the working directory of a drive of Windows
			names, size = append(names, name), size+len(name)
		}
	}
	if size > maxVariableBytes {
		return nil
	}
	slices.Sort(names)
	return names
}

// keptSources returns the definitions in the form in which a Store may keep them: every text that the session knows
// to be secret is masked, whether the author declared the secret there or the same text comes from elsewhere.
func keptSources(a *call.Frame) []tool.Source {
	list := slices.Clone(a.Plan.Sources)
	for i := range list {
		s := &list[i]
		if text := rewrite.Redact(s.Text, a.Session().Mask().String); !bytes.Equal(text, s.Text) {
			s.Original, s.Text, s.Digest = s.Digest, text, tool.DigestOf(text)
		}
	}
	return list
}

// wholeSources returns the record's definitions as they were run. A definition that contained a secret is read from
// its file again. It is an error if that file, or a file it is made of, has changed.
func wholeSources(r *history.Record, lib *library.Library) ([]tool.Source, error) {
	list := slices.Clone(r.Sources)
	for i := range list {
		s := &list[i]
		if s.Original == "" {
			continue
		}
		text, err := textNow(s, lib)
		if err == nil && tool.DigestOf(text) != s.Original {
			err = errors.New("it was changed")
		}
		if err != nil {
			return nil, fmt.Errorf("cannot use the definition that run %s started with: %s contains a secret and was stored masked, and the original is not available: %w; to use the current definition: --latest", r.ID, cmp.Or(s.File, s.Name), err)
		}
		s.Text = text
	}
	return list, nil
}

// runEnvOf returns the RunEnv of a recorded run, with the environment variables of this process.
func runEnvOf(r *history.Record) RunEnv {
	w := r.RunEnv
	return RunEnv{Workspace: w.Workspace, Home: w.Home, Temp: w.Temp, Time: w.Time, AllowDash: w.AllowDash, TrustedProject: w.TrustedProject}
}

// requestedName returns the name with which the run's tool was requested.
func requestedName(r *history.Record) string {
	if len(r.Sources) > 0 && r.Sources[0].From == "" {
		return r.Sources[0].Name
	}
	return r.Tool
}

// fileOf returns the file of the run's tool, or its name if it has no file.
func fileOf(r *history.Record) string {
	if len(r.Sources) > 0 && r.Sources[0].From == "" {
		return cmp.Or(r.Sources[0].File, r.Sources[0].Name)
	}
	return r.Tool
}

// compileRecord returns the plan of a recorded run, compiled from the library that has its definitions.
func compileRecord(r *history.Record, lib *library.Library, name string) (*plan.Plan, error) {
	p, err := compile.Tool(lib, buildinfo.Release(), name)
	if err != nil {
		return nil, err
	}
	return limited(p, r)
}

// limited returns the part of a whole plan to which the run was limited.
func limited(p *plan.Plan, r *history.Record) (_ *plan.Plan, err error) {
	switch {
	case r.WithoutUpstream:
		p, err = graph.Only(p, r.Only)
	case r.Only != "":
		p, err = graph.Until(p, r.Only)
	}
	if err == nil && r.Timeout > 0 {
		return graph.WithTimeout(p, r.Timeout)
	}
	return p, err
}

// planFor returns the plan of a recorded run, made of a plan that is known: nil if that is of other definitions. whole
// reports whether the record has secrets masked that are in the plan. A tool made in Go has no text to compare; its name
// counts, as for one of a library.
func planFor(known *plan.Plan, r *history.Record) (p *plan.Plan, whole bool) {
	same := func(a, b tool.Source) bool {
		return a.From == b.From && a.Name == b.Name && a.File == b.File && a.Scope == b.Scope && a.Digest == wholeDigest(&b)
	}
	if r.NotStarted || madeInGo(r) && known.Name() != r.Tool || !slices.EqualFunc(known.Sources, r.Sources, same) {
		return nil, false
	}
	switch {
	case known.CutTo == r.Only && known.WithoutUpstream == r.WithoutUpstream && known.Timeout == r.Timeout:
		p = known
	case known.CutTo == "" && known.Timeout == 0:
		p, _ = limited(known, r) // nil: it has no such step
	}
	return p, slices.ContainsFunc(r.Sources, func(s tool.Source) bool { return s.Original != "" })
}

// bindRecord binds the run's parameters again.
func bindRecord(r *history.Record, p *plan.Plan, w RunEnv, more map[string]any) (*call.Params, error) {
	given, err := givenOf(r, p, more)
	if err != nil {
		return nil, err
	}
	return w.bind(p, given)
}

// givenOf returns the parameters with which the run was started. more holds the withheld ones, which are required; its
// values take precedence, and for a retry it may hold any parameter.
func givenOf(r *history.Record, p *plan.Plan, more map[string]any) (map[string]any, error) {
	given := make(map[string]any, len(r.Given)+len(more))
	for k, v := range r.Given {
		given[k] = v
	}
	for k, v := range more {
		given[k] = v
	}
	bad := &value.ParamsError{Tool: p.Name()}
	for _, name := range r.Withheld {
		if _, ok := given[name]; !ok {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "withheld",
				Message: "is secret and was not stored", Hint: fmt.Sprintf("pass it again: %s=...", name)})
		}
	}
	if len(bad.Problems) > 0 {
		return nil, bad
	}
	return given, nil
}

// checkWithheld rejects parameters that the record already holds: a resumed run keeps them.
func checkWithheld(r *history.Record, more map[string]any) error {
	bad := &value.ParamsError{Tool: r.Tool}
	for name := range more {
		if !slices.Contains(r.Withheld, name) {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "recorded",
				Message: "cannot change: a resumed run keeps its parameters", Hint: fmt.Sprintf("start a new run with retry --with %s=...", name)})
		}
	}
	if len(bad.Problems) > 0 {
		slices.SortFunc(bad.Problems, func(x, y value.ParamProblem) int { return strings.Compare(x.Name, y.Name) })
		return bad
	}
	return nil
}

// checkUnchanged compares the parameters of a resumed run with those it started with: a default may come from the
// environment, which may have changed.
func checkUnchanged(r *history.Record, a *call.Frame) error {
	now := a.Shown()
	bad := &value.ParamsError{Tool: r.Tool}
	for name, was := range r.Params {
		if !rawtext.Equal(was, now[name]) {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "changed",
				Message: "has a different value than when the run began",
				Hint:    fmt.Sprintf("its default comes from the environment; restore the old value there, or start a new run with retry --with %s=...", name)})
		}
	}
	if len(bad.Problems) > 0 {
		slices.SortFunc(bad.Problems, func(x, y value.ParamProblem) int { return strings.Compare(x.Name, y.Name) })
		return bad
	}
	return nil
}

// emptyPlan returns the plan of a run that could not start. It has no steps.
func emptyPlan(r *history.Record) *plan.Plan {
	graph, _ := dag.New(nil, dag.Settings{}) // cannot fail without nodes
	p := &plan.Plan{Definition: &tool.Definition{Name: r.Tool}}
	p.SetGraph(graph)
	return p
}

// madeInGo reports whether the definition of the run's tool was made in Go, so that it has no text.
func madeInGo(r *history.Record) bool { return len(r.Sources) == 0 || r.Sources[0].From != "" }

// seenPlan returns the plan of a run whose definition is not available, as far as its events show it: its outermost steps,
// in the order in which they began. It is there to be shown, not to run.
func seenPlan(r *history.Record, events []dag.Event) *plan.Plan {
	p := emptyPlan(r)
	seen := map[dag.ID]bool{"": true}
	for _, e := range events {
		path := e.Node.WithoutAttempts()
		if seen[path] || len(path.Ancestors()) > 0 || strings.HasPrefix(string(path), "@") {
			continue
		}
		seen[path] = true
		p.Steps = append(p.Steps, &plan.Step{Def: &tool.Step{Name: string(path), HasWaitFor: true}, Runner: dag.RunnerFunc(noRunner)})
	}
	if graph.Build(p) != nil { // names that no graph can have: the history was written by something else
		return emptyPlan(r)
	}
	return p
}

func noRunner(context.Context, *dag.Call) (dag.Result, error) {
	return dag.Result{}, errors.New("the definition of the step is not available")
}
