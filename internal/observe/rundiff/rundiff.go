// Package rundiff compares two recorded runs: what changed since a job last worked.
//
// Reference finds the run to compare with, and Of makes one document of everything that differs and that the history
// knows of both runs: how they ended, the texts of their definitions, parameters, the names (never the values) of
// environment variables, the version of flowrun, and for each step its end, its duration and the first line of its
// output that differs. It reads runs and logs, and shows nothing: flowrun diff and the HTTP API do that.
package rundiff

import (
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/textdiff"
)

// Diff is the document flowrun/run-diff.v1: what differs between two runs.
type Diff struct {
	Schema      string       `json:"schema"`
	Before      Run          `json:"before"` // the one that started first
	After       Run          `json:"after"`
	Definitions []Definition `json:"definitions"` // those that differ
	Params      []Param      `json:"params"`      // those that differ
	// Variables are the names of environment variables that only one of the runs had; nil if they are not recorded
	// of both.
	Variables *Names `json:"variables,omitempty"`
	Steps     []Step `json:"steps"` // all of both runs, in the order of After
	// LogsCut reports that some logs were too long to be compared to their end.
	LogsCut bool `json:"logs_cut,omitempty"`
}

// Run is one of the two runs.
type Run struct {
	ID       string     `json:"id"`
	Tool     string     `json:"tool"`
	Status   dag.Status `json:"status"`
	ExitCode int        `json:"exit_code"`
	Origin   string     `json:"origin,omitempty"`
	Flowrun  string     `json:"flowrun,omitempty"` // the version that started it
	Started  time.Time  `json:"started"`
	Duration int64      `json:"duration_ms"`
}

// Definition is a definition that differs. A digest is "" if that run did not use it.
type Definition struct {
	Name   string `json:"name"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Diff   string `json:"diff"` // of the texts, as diff -u prints it
}

// Param is a parameter that differs. A value is nil if that run did not have it.
type Param struct {
	Name   string `json:"name"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
}

// Names are names that only one of the runs had.
type Names struct {
	Added   []string `json:"added"`   // only the later one
	Removed []string `json:"removed"` // only the earlier one
}

// Step is a step of both runs, or of one of them.
type Step struct {
	ID     string      `json:"id"`
	Before *StepState  `json:"before,omitempty"`
	After  *StepState  `json:"after,omitempty"`
	Logs   []LogChange `json:"logs,omitempty"` // of the last attempts, if the step ran in both
	// Notable reports that the step differs in more than the usual variation of its duration.
	Notable bool `json:"notable,omitempty"`
}

// StepState is how a step ended, or how far it has come.
type StepState struct {
	Status   dag.Status `json:"status"`
	ExitCode int        `json:"exit_code"`
	Attempts int        `json:"attempts"`
	Duration int64      `json:"duration_ms"`
}

// A step has become notably slower or quicker if its duration has changed by more than minFactor and minChange.
const (
	minFactor = 2
	minChange = time.Second
)

// differs reports whether the step is notable.
func (s *Step) differs() bool {
	b, a := s.Before, s.After
	return b == nil || a == nil || b.Status != a.Status || b.ExitCode != a.ExitCode || b.Attempts != a.Attempts || len(s.Logs) > 0 || s.paceChanged()
}

// paceChanged reports whether the step has become notably slower or quicker.
func (s *Step) paceChanged() bool {
	if s.Before == nil || s.After == nil {
		return false
	}
	low, high := min(s.Before.Duration, s.After.Duration), max(s.Before.Duration, s.After.Duration)
	return high > minFactor*low && high-low > minChange.Milliseconds()
}

// Of compares two runs, in whichever order they are given. stateDir is the state directory, which has their logs.
func Of(stateDir string, one, other *engine.RecordedRun) (*Diff, error) {
	before, after := one, other
	if after.Info.Started.Before(before.Info.Started) {
		before, after = other, one
	}
	was, is := before.Result(), after.Result()
	d := &Diff{Schema: "flowrun/run-diff.v1", Before: runOf(before, was), After: runOf(after, is), Definitions: []Definition{}, Params: []Param{},
		Steps: steps(was, is)}
	d.compareDefinitions(before.Definitions(), after.Definitions())
	d.compareParams(before.Record.Params, after.Record.Params)
	if old, new := before.Record.Variables, after.Record.Variables; len(old) > 0 && len(new) > 0 {
		d.Variables = &Names{Added: without(new, old), Removed: without(old, new)}
	}
	if err := d.compareLogs(stateDir, before, after); err != nil {
		return nil, err
	}
	for i := range d.Steps {
		d.Steps[i].Notable = d.Steps[i].differs()
	}
	return d, nil
}

func runOf(p *engine.RecordedRun, r *runresult.Result) Run {
	return Run{r.ID, r.Tool, r.Status, r.ExitCode, p.Record.Origin, p.Record.Flowrun, p.Info.Started, r.Duration().Milliseconds()}
}

// compareDefinitions pairs the definitions by their names. Of several with one name, those are left out that both runs
// used, and the others are paired in their order.
func (d *Diff) compareDefinitions(before, after []runresult.Definition) {
	old, new := withoutDefinitions(before, after), withoutDefinitions(after, before)
	for _, a := range new {
		var b runresult.Definition
		if i := slices.IndexFunc(old, func(o runresult.Definition) bool { return o.Name == a.Name }); i >= 0 {
			b = old[i]
			old = slices.Delete(old, i, i+1)
		}
		d.addDefinition(a.Name, b, a)
	}
	for _, b := range old {
		d.addDefinition(b.Name, b, runresult.Definition{})
	}
}

func (d *Diff) addDefinition(name string, before, after runresult.Definition) {
	d.Definitions = append(d.Definitions, Definition{name, before.Digest, after.Digest,
		textdiff.Unified(name+" of run "+d.Before.ID, string(before.Text), name+" of run "+d.After.ID, string(after.Text))})
}

// withoutDefinitions returns the definitions that others does not have.
func withoutDefinitions(list, others []runresult.Definition) []runresult.Definition {
	return slices.DeleteFunc(slices.Clone(list), func(d runresult.Definition) bool {
		return slices.ContainsFunc(others, func(o runresult.Definition) bool { return o.Name == d.Name && o.Digest == d.Digest })
	})
}

func (d *Diff) compareParams(before, after map[string]any) {
	names := map[string]bool{}
	for _, m := range []map[string]any{before, after} {
		for name := range m {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		b, had := before[name]
		a, has := after[name]
		if had != has || !rawtext.Equal(b, a) {
			d.Params = append(d.Params, Param{name, b, a})
		}
	}
}

// without returns the names that others, which is sorted, does not have.
func without(list, others []string) []string {
	rest := []string{}
	for _, name := range list {
		if _, has := slices.BinarySearch(others, name); !has {
			rest = append(rest, name)
		}
	}
	return rest
}

// steps pairs the steps by their paths.
func steps(before, after *runresult.Result) []Step {
	list, at := make([]Step, 0, len(after.Steps)), map[string]int{}
	for i := range after.Steps {
		s := &after.Steps[i]
		at[s.ID] = len(list)
		list = append(list, Step{ID: s.ID, After: stateOf(s)})
	}
	for i := range before.Steps {
		s := &before.Steps[i]
		if j, both := at[s.ID]; both {
			list[j].Before = stateOf(s)
			continue
		}
		list = append(list, Step{ID: s.ID, Before: stateOf(s)})
	}
	return list
}

func stateOf(s *runresult.StepResult) *StepState {
	return &StepState{s.Status, s.ExitCode, s.Attempts, s.Duration().Milliseconds()}
}

// started reports whether a step had an attempt.
func (s *StepState) started() bool { return s != nil && s.Attempts > 0 }
