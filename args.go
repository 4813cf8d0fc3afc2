package flowrun

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
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// Args are the bound parameters of one call of one tool, and what its steps
// learn from the run around them. They do not change once the call has begun.
type callArgs struct {
	plan       *compiledPlan
	world      *callWorld
	values     map[string]expr.Value
	raw        map[string]any // as given, before coercion and transforms
	session    *steps.Session
	environ    []string          // K=V: files, secrets, variables, in this order
	files      []string          // K=V, of env-files
	own        map[string]string // what {env.NAME} sees before the process's variables
	unknown    map[string]bool   // of these, what only a run knows
	fetched    map[string]string // values of secrets, by key
	answers    *answers
	ahead      bool // a preview: nothing may be started
	guessed    bool // in a preview: some values stand for what only a run knows
	dir        string
	temp       string
	run        string   // its id; "" for a preview
	path       dag.ID   // of the step that uses the tool; "" for the run's own
	local      *local   // of an item of a loop
	cache      *caching // nil: no result is kept or used
	answerable bool     // somebody could answer a question of the run, now or later
	state      string   // the engine's folder of state; "" for none
	tools      string   // where tools keep what they keep; "" for nowhere
	calling    []string // tools that call each other by api.callTool, outermost first
	confine    steps.Confinement
}

// Session, Scope, Environ, Dir, Resolve, Temp, Secret and Confinement make callArgs a steps.Frame.
func (a *callArgs) Session() *steps.Session { return a.session }

// Scope resolves a step's references.
func (a *callArgs) Scope(v dag.View) expr.Scope { return scope{view: v, args: a} }

// Environ is the tool's own variables, K=V.
func (a *callArgs) Environ() []string { return a.environ }

// Dir is the directory the tool's steps start in.
func (a *callArgs) Dir() string { return a.dir }

// Resolve makes a step's working directory absolute.
func (a *callArgs) Resolve(dir string) string { return a.world.resolve(dir) }

// Temp is the call's own temporary directory, "" where it has none.
func (a *callArgs) Temp() string { return a.temp }

// Secret is the value of a step's secret, fetched when the call began.
func (a *callArgs) Secret(key string) string { return a.fetched[key] }

// Confinement is what the tool's steps have to do without.
func (a *callArgs) Confinement() steps.Confinement { return a.confine }

// Value is a parameter's bound value, nil when it is absent.
func (a *callArgs) Value(name string) any { return a.values[name].V }

// begin readies the call: environment, secrets, directories. path tells calls of
// one run apart.
func (a *callArgs) begin(ctx context.Context, session *steps.Session, run string, path dag.ID) error {
	a.session, a.run, a.path = session, run, path
	a.tellUndeclared()
	if err := a.openEnvironment(ctx); err != nil {
		return err
	}
	if err := a.findDir(); err != nil {
		return err
	}
	return a.makeTemp(run, path)
}

// foresee readies arguments for a look at what a call would do, in which nothing may be
// started. They have a session that is nothing but a mask, and are of no use afterwards.
func (a *callArgs) foresee() { a.session, a.ahead = &steps.Session{}, true }

// foreseeInside is foresee for a tool that the tool of outer uses. guessed says that some of
// the values stand for what only a run knows.
func (a *callArgs) foreseeInside(outer *callArgs, guessed bool) {
	a.session, a.ahead, a.guessed, a.confine = outer.session, true, guessed, a.confine.Within(outer.confine)
}

// findDir finds the directory the tool's steps start in.
func (a *callArgs) findDir() error {
	a.dir = a.world.Workspace
	if a.plan.dir != nil {
		dir, err := a.plan.dir.Text(scope{args: a})
		if err != nil {
			return fmt.Errorf("cannot render working-directory: %w", err)
		}
		a.dir = a.world.resolve(dir)
	}
	return nil
}

// openEnvironment reads the tool's env files, fetches its secrets, renders its
// variables and learns what is secret.
func (a *callArgs) openEnvironment(ctx context.Context) error {
	if err := a.readEnvFiles(); err != nil {
		return err
	}
	if err := a.fetchSecrets(ctx); err != nil {
		return err
	}
	a.tellUnnamed()
	secret := make(map[string]bool, len(a.plan.secrets))
	for _, s := range a.plan.secrets {
		secret[s.S] = true
		if err := a.keepSecret(s.S, a.raw[s.S], a.values[s.S].V, a.world.vars[s.S], a.own[s.S]); err != nil {
			return err
		}
	}
	size := 0
	for _, e := range a.plan.environ {
		v, err := e.Value.Text(scope{args: a})
		if a.ahead && errors.Is(err, expr.ErrUnknown) {
			continue
		}
		if size += len(v); size > expr.MaxTogether {
			err = &expr.SizeError{What: "the environment", Most: expr.MaxTogether}
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
func (a *callArgs) readEnvFiles() (err error) {
	a.files, err = a.session.ReadEnvFiles(steps.EnvFiles{Confinement: a.confine, Files: a.plan.envFiles, Step: a.path, Resolve: a.world.resolve,
		Outer: func(name string) (string, bool) { v, ok := a.world.vars[name]; return v, ok }}, scope{args: a})
	for _, kv := range a.files {
		name, value, _ := strings.Cut(kv, "=")
		a.setOwn(name, value)
	}
	return a.unfit(err)
}

// setOwn gives the call a variable that the process does not have, or hides the
// process's; unset does so with one whose value is not known yet.
func (a *callArgs) setOwn(name, value string) {
	if a.own == nil {
		a.own = map[string]string{}
	}
	a.own[name] = value
	a.environ = append(a.environ, name+"="+value)
}

func (a *callArgs) unset(name string) {
	if a.unknown == nil {
		a.unknown = map[string]bool{}
	}
	a.unknown[name] = true
}

// env is a variable as {env.NAME} sees it: a secret, one of the env files, else the
// process's.
func (a *callArgs) env(name string) (value string, ok bool) {
	if value, ok = a.own[name]; !ok {
		value, ok = a.world.vars[name]
	}
	return value, ok
}

// keepSecret masks values, structured ones leaf by leaf.
func (a *callArgs) keepSecret(name string, values ...any) error {
	for _, v := range values {
		for _, leaf := range leaves(v) {
			if err := a.session.Mask().Add(leaf); err != nil {
				return fmt.Errorf("cannot keep %s secret: %w", name, err)
			}
		}
	}
	return nil
}

// withoutSecrets is an error as it may leave the engine. Its kind is lost where
// its text had to be changed.
func (a *callArgs) withoutSecrets(err error) error {
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
func (a *callArgs) maskEarly() error {
	for _, text := range a.plan.literals(map[*compiledPlan]bool{}) {
		if err := a.keepSecret("a value of a definition", text); err != nil {
			return err
		}
	}
	a.foreseen(a.plan, map[*compiledPlan]bool{})
	var err error
	a.plan.each(func(s *planStep) {
		if err == nil && s.baseCommand() != nil {
			err = a.maskValues(s)
		}
	})
	return err
}

// maskValues masks what of a step's masked-values is known before it starts.
func (a *callArgs) maskValues(s *planStep) error {
	for _, t := range s.baseCommand().Masked {
		if slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Step || r.Class == expr.Local }) {
			continue
		}
		v, err := t.Text(scope{args: a})
		if a.ahead && errors.Is(err, expr.ErrUnknown) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot render masked-values: %w", err)
		}
		if err := a.keepSecret("masked-values of step "+s.def.Name, v); err != nil {
			return err
		}
	}
	return nil
}

// literals are the secrets that authors wrote into the definitions, in nested tools
// too: the definitions are kept with the run. A plan that is used in many places is seen
// once.
func (p *compiledPlan) literals(seen map[*compiledPlan]bool) (list []string) {
	if seen[p] {
		return nil
	}
	seen[p] = true
	add := func(t *expr.Template) {
		if len(t.Refs()) > 0 {
			return
		}
		if text, err := t.Text(nil); err == nil {
			list = append(list, text)
		}
	}
	for _, e := range p.environ {
		if slices.ContainsFunc(p.secrets, func(s tool.Text) bool { return s.S == e.Name }) {
			add(e.Value)
		}
	}
	for _, prm := range p.params {
		if prm.initial != nil && p.Secret(prm.def.Name) && len(prm.initial.refs()) == 0 {
			if v, err := prm.initial.value(nil); err == nil {
				list = append(list, leaves(v)...)
			}
		}
	}
	for _, s := range p.steps {
		if base := s.baseCommand(); base != nil {
			for _, t := range base.Masked {
				add(t)
			}
		}
		if s.nested != nil {
			list = append(list, s.nested.literals(seen)...)
		}
	}
	return list
}

// leaves are the scalars in a value, as text.
func leaves(v any) []string {
	var list []string
	switch v := v.(type) {
	case nil, bool:
	case []any:
		for _, e := range v {
			list = append(list, leaves(e)...)
		}
	case map[string]any:
		for _, e := range v {
			list = append(list, leaves(e)...)
		}
	default:
		list = append(list, plain(v))
	}
	return list
}

// makeTemp makes the temporary directory of the call, its own even where two runs
// of a tool name the same one.
func (a *callArgs) makeTemp(run string, path dag.ID) error {
	if a.plan.temp == nil && !a.plan.Definition.Resources.DeleteTempFiles {
		return nil
	}
	parent := a.world.Temp
	if a.plan.temp != nil {
		dir, err := a.plan.temp.Text(scope{args: a})
		if err != nil {
			return fmt.Errorf("cannot render temp-directory: %w", err)
		}
		parent = a.world.resolve(dir)
	}
	name := "flowrun-" + run
	if path != "" {
		name += "-" + strings.NewReplacer("/", "%", "#", "~").Replace(string(path)) // signs that no step's name has
	}
	a.temp = filepath.Join(parent, name)
	if err := os.MkdirAll(a.temp, 0o700); err != nil {
		return fmt.Errorf("cannot make the temporary directory: %w", err)
	}
	a.session.RemoveAtClose(a.temp)
	if err := a.session.HandOver(a.temp, a.confine); err != nil {
		return fmt.Errorf("cannot hand the temporary directory to reduced steps: %w", err)
	}
	return nil
}
