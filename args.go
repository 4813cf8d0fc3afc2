package flowrun

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
)

// Args are the bound parameters of one call of one tool, and what its steps
// learn from the run around them. They do not change once the call has begun.
type Args struct {
	plan    *Plan
	world   *World
	values  map[string]expr.Value
	raw     map[string]any // as given, before coercion and transforms
	session *steps.Session
	environ []string
	dir     string
	temp    string
	path    dag.ID // of the step that uses the tool; "" for the run's own
}

// Session, Scope, Environ, Dir, Resolve and Temp make Args a steps.Frame.
func (a *Args) Session() *steps.Session { return a.session }

// Scope resolves a step's references.
func (a *Args) Scope(v dag.View) expr.Scope { return scope{view: v, args: a} }

// Environ is the tool's own variables, K=V.
func (a *Args) Environ() []string { return a.environ }

// Dir is the directory the tool's steps start in.
func (a *Args) Dir() string { return a.dir }

// Resolve makes a step's working directory absolute.
func (a *Args) Resolve(dir string) string { return a.world.resolve(dir) }

// Temp is the call's own temporary directory, "" where it has none.
func (a *Args) Temp() string { return a.temp }

// Value is a parameter's bound value, nil when it is absent.
func (a *Args) Value(name string) any { return a.values[name].V }

// begin readies the call: environment, secrets, directories. path tells calls of
// one run apart.
func (a *Args) begin(session *steps.Session, run string, path dag.ID) error {
	a.session, a.path = session, path
	if err := a.openEnvironment(); err != nil {
		return err
	}
	a.dir = a.world.Workspace
	if a.plan.dir != nil {
		dir, err := a.plan.dir.Text(scope{args: a})
		if err != nil {
			return fmt.Errorf("cannot render working-directory: %w", err)
		}
		a.dir = a.world.resolve(dir)
	}
	return a.makeTemp(run, path)
}

// openEnvironment renders the tool's variables and learns what is secret.
func (a *Args) openEnvironment() error {
	secret := make(map[string]bool, len(a.plan.secrets))
	for _, s := range a.plan.secrets {
		secret[s.S] = true
		if err := a.keepSecret(s.S, a.raw[s.S], a.values[s.S].V, a.world.env[s.S]); err != nil {
			return err
		}
	}
	for _, e := range a.plan.environ {
		v, err := e.Value.Text(scope{args: a})
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

// keepSecret masks values, structured ones leaf by leaf.
func (a *Args) keepSecret(name string, values ...any) error {
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
func (a *Args) withoutSecrets(err error) error {
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
func (a *Args) maskEarly() error {
	for _, s := range a.plan.steps {
		if s.command == nil {
			continue
		}
		for _, t := range s.command.Masked {
			if slices.ContainsFunc(t.Refs(), func(r expr.Ref) bool { return r.Class == expr.Step }) {
				continue
			}
			v, err := t.Text(scope{args: a})
			if err != nil {
				return fmt.Errorf("cannot render masked-values: %w", err)
			}
			if err := a.keepSecret("masked-values of step "+s.def.Name, v); err != nil {
				return err
			}
		}
	}
	return nil
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
func (a *Args) makeTemp(run string, path dag.ID) error {
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
	return nil
}
