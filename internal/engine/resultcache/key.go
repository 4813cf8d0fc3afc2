package resultcache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
)

// dependence is everything that a step's result depends on, and nothing that differs from attempt to attempt or from
// run to run.
type dependence struct {
	Components []cache.Component
	Dir        string   // in which the step runs
	inputs     []string // patterns
	outputs    []string
	optional   []string // patterns of outputs that may match nothing
}

// allOutputs returns the patterns of all files that the step may create.
func (d *dependence) allOutputs() []string { return slices.Concat(d.outputs, d.optional) }

// depender computes a dependence. A component that refers to a step's result is not known outside of a run: it has no
// hash.
type depender struct {
	dependence
	store *cache.Store
	step  *plan.Step
	args  *call.Frame
	view  dag.View
	scope expr.Scope
	// Set if the directory, or the files, cannot be known.
	noDir, noInputs, noOutputs bool
}

// Depends computes what the step's result depends on. Errors: an invalid value, a *cache.PatternError, a
// *cache.InputError, the error of ctx.
func Depends(ctx context.Context, s *plan.Step, store *cache.Store, a *call.Frame, v dag.View) (*dependence, error) {
	d := &depender{store: store, step: s, args: a, view: v, scope: a.Scope(v)}
	d.add(cache.Format, "", strconv.Itoa(cache.Version), runtime.GOOS, runtime.GOARCH)
	for _, part := range []func() error{d.patterns, d.work, d.listedVariables, d.key} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	for _, o := range s.Def.Outputs {
		d.add(cache.Definition, "outputs."+o.Name, o.Type, strconv.FormatBool(o.Optional))
	}
	if err := d.files(ctx); err != nil {
		return nil, err
	}
	for i := range d.Components { // names are for people and masked; the hashes contain the real names
		d.Components[i].Name = a.Session().Mask().String(d.Components[i].Name)
	}
	return &d.dependence, nil
}

func (d *depender) add(k cache.Kind, name string, value ...string) {
	d.Components = append(d.Components, d.store.Component(k, name, value...))
}

func (d *depender) unknown(k cache.Kind, name string) {
	d.Components = append(d.Components, cache.Component{Kind: k, Name: name})
}

// addIf adds a component, without a hash if its value is unknown.
func (d *depender) addIf(unknown bool, k cache.Kind, name string, value ...string) {
	if unknown {
		d.unknown(k, name)
		return
	}
	d.add(k, name, value...)
}

// patterns renders the patterns of files. The outputs are components too, because they decide what is stored.
func (d *depender) patterns() (err error) {
	if d.outputs, d.noOutputs, err = d.render(d.step.Cache.Outputs); err != nil {
		return fmt.Errorf("invalid cache.outputs: %w", err)
	}
	if d.inputs, d.noInputs, err = d.render(d.step.Cache.Inputs); err != nil {
		return fmt.Errorf("invalid cache.inputs: %w", err)
	}
	if err = d.artifacts(); err != nil {
		return fmt.Errorf("invalid artifacts: %w", err)
	}
	if d.noOutputs {
		d.unknown(cache.Output, "")
	}
	for _, p := range d.allOutputs() {
		d.add(cache.Output, p)
	}
	return nil
}

// artifacts adds the artifacts to the outputs, so that a reused result has them.
func (d *depender) artifacts() error {
	for _, a := range d.step.Cache.Artifacts {
		pattern, err := d.args.Pattern(a.Path, d.scope)
		list := &d.outputs
		if a.Optional {
			list = &d.optional
		}
		switch {
		case errors.Is(err, expr.ErrUnknown):
			d.noOutputs = true
		case err != nil:
			return err
		case pattern != "" && !slices.Contains(*list, pattern):
			*list = append(*list, pattern)
		}
	}
	return nil
}

// render renders patterns. An empty one, for example from a parameter that was not given, is ignored.
func (d *depender) render(texts []*expr.Template) (list []string, unknown bool, err error) {
	for _, t := range texts {
		text, err := d.args.FilePattern(t, d.scope)
		switch {
		case errors.Is(err, expr.ErrUnknown):
			unknown = true
		case err != nil:
			return nil, false, err
		case text != "" && !slices.Contains(list, text):
			list = append(list, text)
		}
	}
	return list, unknown, nil
}

// work adds what the step does: its command, or the parameters of a step in Go.
func (d *depender) work() error {
	if d.step.Command == nil {
		return d.function()
	}
	f, err := d.step.Command.Fingerprint(d.args, d.view)
	if err != nil {
		return &renderError{err}
	}
	d.Dir, d.noDir = f.Dir, f.Unknown.Dir
	d.definition(f)
	d.addIf(f.Unknown.Command, cache.Command, "", f.Command...)
	d.addIf(f.Unknown.Input, cache.Stdin, "", f.Input...)
	for _, v := range f.Env {
		d.addIf(v.Unknown, cache.Variable, v.Name, v.Value)
	}
	return nil
}

// renderError reports that the step's command could not be resolved. The step fails with this error when it runs.
type renderError struct{ error }

func (d *depender) definition(f *steps.Fingerprint) {
	d.add(cache.Definition, "kind", string(d.step.Def.Kind()))
	d.add(cache.Definition, "shell", f.Shell)
	d.add(cache.Definition, "strict", strconv.FormatBool(f.Strict))
	d.add(cache.Definition, "environment.inherit", strconv.FormatBool(!f.NoInherit))
	d.addIf(f.Unknown.Dir, cache.Definition, "working-directory", f.Dir)
	if d.step.Command.Container != nil {
		d.addIf(f.Unknown.Container, cache.Definition, "container", f.Container...)
	}
	if c := d.args.Confine; !c.IsZero() {
		d.add(cache.Definition, "security", fmt.Sprintf("%+v", c))
	}
}

// function adds what a step in Go depends on: its parameters. Changes in its code cannot be detected; authors use key
// for that.
func (d *depender) function() error {
	a := d.args
	d.Dir = a.Dir()
	d.add(cache.Definition, "kind", string(d.step.Def.Kind()))
	d.add(cache.Definition, "working-directory", a.Dir())
	values := map[string]any{}
	unknown := false
	for _, prm := range a.Plan.Params {
		v, known := a.Values[prm.Def.Name]
		unknown = unknown || !known
		if known && !v.Absent {
			values[prm.Def.Name] = v.V
		}
	}
	text, err := json.Marshal(rawtext.EncodeMap(values))
	if err != nil {
		return fmt.Errorf("cannot compare the parameters: %w", err)
	}
	d.addIf(unknown, cache.Command, "", string(text))
	return nil
}

// listedVariables adds the inherited variables that the author lists. A variable that the definition sets is already
// there.
func (d *depender) listedVariables() error {
	for _, name := range d.step.Cache.Env {
		if slices.ContainsFunc(d.Components, func(c cache.Component) bool { return c.Kind == cache.Variable && c.Name == name }) {
			continue
		}
		value, set := d.args.RunEnv.Vars[name]
		d.add(cache.Variable, name, strconv.FormatBool(set), value)
	}
	return nil
}

func (d *depender) key() error {
	if d.step.Cache.Key == nil {
		return nil
	}
	text, err := d.step.Cache.Key.Text(d.scope)
	if err != nil && !errors.Is(err, expr.ErrUnknown) {
		return fmt.Errorf("invalid cache.key: %w", err)
	}
	d.addIf(err != nil, cache.Key, "", text)
	return nil
}

// files adds the input files, if their patterns are known.
func (d *depender) files(ctx context.Context) error {
	if !d.noDir {
		if err := cache.CheckOutputs(d.Dir, d.allOutputs()); err != nil {
			return err
		}
	}
	switch {
	case len(d.step.Cache.Inputs) == 0:
		return nil
	case d.noDir, d.noOutputs:
		d.unknown(cache.Input, "")
		return nil
	case d.noInputs:
		d.unknown(cache.Input, "")
	}
	list, err := d.store.Inputs(ctx, d.Dir, d.inputs, d.allOutputs())
	d.Components = append(d.Components, list...)
	return err
}

// Identity returns the cache folder of the step with that path in this definition, the same for every run and
// attempt.
func Identity(store *cache.Store, a *call.Frame, path dag.ID) *cache.Step {
	file := a.Plan.Definition.File
	if full, err := filepath.Abs(file); err == nil && file != "" {
		file = full
	}
	return store.Step(file, a.Plan.Name(), string(path.WithoutAttempts()))
}
