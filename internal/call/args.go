package call

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/cache"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/steps"
)

// Frame is one call under way: its parameters, and what its steps learn from the run around
// them. It does not change once the call has begun.
type Frame struct {
	*Params
	RunEnv     *RunEnv // that the call goes on in: the one its parameters were bound in, or the run's
	session    *steps.Session
	environ    []string          // K=V: files, secrets, variables, in this order
	files      []string          // K=V, of env-files
	own        map[string]string // what {env.NAME} sees before the process's variables
	unknown    map[string]bool   // of these, what only a run knows
	fetched    map[string]string // values of secrets, by key
	answers    *answers
	ahead      bool // a preview: nothing may be started
	Guessed    bool // in a preview: some values stand for what only a run knows
	dir        string
	temp       string
	run        string   // its id; "" for a preview
	Path       dag.ID   // of the step that uses the tool; "" for the run's own
	Local      *Local   // of an item of a loop
	Cache      *Caching // nil: no result is kept or used
	Answerable bool     // somebody could answer a question of the run, now or later
	State      string   // the engine's folder of state; "" for none
	Tools      string   // where tools keep what they keep; "" for nowhere
	Calling    []string // tools that call each other by api.callTool, outermost first
	Confine    steps.Confinement
}

// Session, Scope, Environ, Dir, Resolve, Temp, Secret and Confinement make Frame a steps.Frame.
func (a *Frame) Session() *steps.Session { return a.session }

// Scope resolves a step's references.
func (a *Frame) Scope(v dag.View) expr.Scope { return Scope{View: v, Frame: a} }

// Environ is the tool's own variables, K=V.
func (a *Frame) Environ() []string { return a.environ }

// Dir is the directory the tool's steps start in.
func (a *Frame) Dir() string { return a.dir }

// Resolve makes a step's working directory absolute.
func (a *Frame) Resolve(dir string) string { return a.RunEnv.Resolve(dir) }

// Temp is the call's own temporary directory, "" where it has none.
func (a *Frame) Temp() string { return a.temp }

// Secret is the value of a step's secret, fetched when the call began.
func (a *Frame) Secret(key string) string { return a.fetched[key] }

// Confinement is what the tool's steps have to do without.
func (a *Frame) Confinement() steps.Confinement { return a.Confine }

// Begin readies the call: environment, secrets, directories. path tells calls of
// one run apart.
func (a *Frame) Begin(ctx context.Context, session *steps.Session, run string, path dag.ID) error {
	a.session, a.run, a.Path = session, run, path
	a.tellUndeclared()
	if err := a.OpenEnvironment(ctx); err != nil {
		return err
	}
	if err := a.FindDir(); err != nil {
		return err
	}
	return a.makeTemp(run, path)
}

// FindDir finds the directory the tool's steps start in.
func (a *Frame) FindDir() error {
	a.dir = a.RunEnv.Workspace
	if a.Plan.Dir != nil {
		dir, err := a.Plan.Dir.Text(Scope{Frame: a})
		if err != nil {
			return fmt.Errorf("cannot render working-directory: %w", err)
		}
		a.dir = a.RunEnv.Resolve(dir)
	}
	return nil
}

// OpenEnvironment reads the tool's env files, fetches its secrets, renders its
// variables and learns what is secret.
func (a *Frame) OpenEnvironment(ctx context.Context) error {
	if err := a.readEnvFiles(); err != nil {
		return err
	}
	if err := a.fetchSecrets(ctx); err != nil {
		return err
	}
	a.tellUnnamed()
	secret := make(map[string]bool, len(a.Plan.Secrets))
	for _, s := range a.Plan.Secrets {
		secret[s.S] = true
		if err := a.keepSecret(s.S, a.Given[s.S], a.Values[s.S].V, a.RunEnv.Vars[s.S], a.own[s.S]); err != nil {
			return err
		}
	}
	size := 0
	for _, e := range a.Plan.Environ {
		v, err := e.Value.Text(Scope{Frame: a})
		if a.ahead && errors.Is(err, expr.ErrUnknown) {
			continue
		}
		if size += len(v); size > expr.MaxTogether {
			err = &expr.SizeError{What: "the environment", Max: expr.MaxTogether}
		}
		if err != nil {
			return fmt.Errorf("cannot render environment variable %s: %w", e.Name, err)
		}
		if secret[e.Name] {
			if err := a.keepSecret(e.Name, v); err != nil {
				return err
			}
		}
		a.environ = append(a.environ, e.Name+"="+v)
	}
	return a.maskEarly()
}

// readEnvFiles reads the tool's env-files: their variables stand over the process's.
func (a *Frame) readEnvFiles() (err error) {
	a.files, err = a.session.ReadEnvFiles(steps.EnvFiles{Confinement: a.Confine, Files: a.Plan.EnvFiles, Step: a.Path, Resolve: a.RunEnv.Resolve,
		Outer: func(name string) (string, bool) { v, ok := a.RunEnv.Vars[name]; return v, ok }}, Scope{Frame: a})
	for _, kv := range a.files {
		name, value, _ := strings.Cut(kv, "=")
		a.setOwn(name, value)
	}
	return a.unfit(err)
}

// setOwn gives the call a variable that the process does not have, or hides the
// process's; unset does so with one whose value is not known yet.
func (a *Frame) setOwn(name, value string) {
	if a.own == nil {
		a.own = map[string]string{}
	}
	a.own[name] = value
	a.environ = append(a.environ, name+"="+value)
}

func (a *Frame) unset(name string) {
	if a.unknown == nil {
		a.unknown = map[string]bool{}
	}
	a.unknown[name] = true
}

// env is a variable as {env.NAME} sees it: a secret, one of the env files, else the
// process's.
func (a *Frame) env(name string) (value string, ok bool) {
	if value, ok = a.own[name]; !ok {
		value, ok = a.RunEnv.Vars[name]
	}
	return value, ok
}

// keepSecret masks values, structured ones leaf by leaf.
func (a *Frame) keepSecret(name string, values ...any) error {
	for _, v := range values {
		for _, leaf := range value.Scalars(v) {
			if err := a.session.Mask().Add(leaf); err != nil {
				return fmt.Errorf("cannot mask %s: %w", name, err)
			}
		}
	}
	return nil
}

// WithoutSecrets is an error as it may leave the engine. Its kind is lost where
// its text had to be changed.
func (a *Frame) WithoutSecrets(err error) error {
	if err == nil {
		return nil
	}
	if text := a.session.Mask().String(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// maskEarly masks what the steps' masked-values say of parameters before the
// first step starts: the values stand in the run's result as well.
func (a *Frame) maskEarly() error {
	for _, text := range a.Plan.Literals(map[*plan.Plan]bool{}) {
		if err := a.keepSecret("a value of a definition", text); err != nil {
			return err
		}
	}
	a.foreseen(a.Plan, map[*plan.Plan]bool{})
	var err error
	a.Plan.Each(func(s *plan.Step) {
		if err == nil && s.BaseCommand() != nil {
			err = a.maskValues(s)
		}
	})
	return err
}

// maskValues masks what of a step's masked-values is known before it starts.
func (a *Frame) maskValues(s *plan.Step) error {
	for _, t := range s.BaseCommand().Masked {
		if slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Step || r.Class == expr.Local }) {
			continue
		}
		v, err := t.Text(Scope{Frame: a})
		if a.ahead && errors.Is(err, expr.ErrUnknown) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot render masked-values: %w", err)
		}
		if err := a.keepSecret("masked-values of step "+s.Def.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// makeTemp makes the temporary directory of the call, its own even where two runs
// of a tool name the same one.
func (a *Frame) makeTemp(run string, path dag.ID) error {
	if a.Plan.Temp == nil && !a.Plan.Definition.Resources.DeleteTempFiles {
		return nil
	}
	parent := a.RunEnv.Temp
	if a.Plan.Temp != nil {
		dir, err := a.Plan.Temp.Text(Scope{Frame: a})
		if err != nil {
			return fmt.Errorf("cannot render temp-directory: %w", err)
		}
		parent = a.RunEnv.Resolve(dir)
	}
	name := "flowrun-" + run
	if path != "" {
		name += "-" + strings.NewReplacer("/", "%", "#", "~").Replace(string(path)) // signs that no step's name has
	}
	a.temp = filepath.Join(parent, name)
	if err := os.MkdirAll(a.temp, 0o700); err != nil {
		return fmt.Errorf("cannot create the temporary directory: %w", err)
	}
	a.session.RemoveAtClose(a.temp)
	if err := a.session.HandOver(a.temp, a.Confine); err != nil {
		return fmt.Errorf("cannot give reduced steps access to the temporary directory: %w", err)
	}
	return nil
}

// Caching is how a run uses kept results.
type Caching struct {
	Open   func() (*cache.Store, error)
	Afresh bool // keep results, use none
}

// Inherit takes over what a tool has of the one that uses it.
func (a *Frame) Inherit(outer *Frame) {
	a.answers, a.Cache, a.Answerable, a.State, a.Tools, a.Calling = outer.answers, outer.Cache, outer.Answerable, outer.State, outer.Tools, outer.Calling
	a.Confine = a.Confine.Within(outer.Confine)
}
