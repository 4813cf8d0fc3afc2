package flowrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
		name += "-" + strings.NewReplacer("/", "-", "#", "-").Replace(string(path))
	}
	a.temp = filepath.Join(parent, name)
	if err := os.MkdirAll(a.temp, 0o700); err != nil {
		return fmt.Errorf("cannot make the temporary directory: %w", err)
	}
	a.session.RemoveAtClose(a.temp)
	return nil
}

// scope resolves the references of one call. view is zero where no step may be
// mentioned; last is set for retry.when.
type scope struct {
	view dag.View
	args *Args
	last *dag.Result
}

// Lookup finds what a reference stands for.
func (s scope) Lookup(r expr.Ref) (expr.Value, error) {
	switch r.Class {
	case expr.Parameter:
		v, ok := s.args.values[r.Root]
		if !ok {
			return v, expr.ErrUnknown
		}
		return within(v, r)
	case expr.Variable:
		v, _ := s.args.world.variable(r.Root, s.args.plan.Name())
		return expr.Value{V: v, Author: true}, nil
	case expr.Env:
		v, ok := s.args.world.env[r.Path[0].Field]
		return expr.Value{V: v, Text: true, Author: true, Absent: !ok}, nil
	case expr.Last:
		return s.lastField(r.Path[0].Field), nil
	case expr.Step:
		if s.view == (dag.View{}) {
			return expr.Value{}, expr.ErrUnknown
		}
		return stepValue(s.view.Result(dag.ID(r.Root)), r)
	}
	return expr.Value{}, fmt.Errorf("%s is not known here", r)
}

func (s scope) lastField(field string) expr.Value {
	r := s.last
	switch field {
	case "exit-code":
		return expr.Value{V: int64(r.ExitCode)}
	case "attempts":
		return expr.Value{V: int64(r.Attempts)}
	case "timed-out":
		return expr.Value{V: r.Status == dag.TimedOut}
	case "error":
		return text(r.Stderr)
	}
	return text(r.Stdout)
}

// stepValue is a field of a step's result (S1-127); every field of a step that
// did not run is nil (S1-053).
func stepValue(r *dag.Result, ref expr.Ref) (expr.Value, error) {
	field := ref.Path[0].Field
	if r == nil {
		return expr.Value{}, expr.ErrUnknown
	}
	if field == "status" {
		return expr.Value{V: r.Status.String(), Author: true}, nil
	}
	if !r.Status.Executed() {
		return expr.Value{Author: true}, nil
	}
	switch field {
	case "exit-code":
		return expr.Value{V: int64(r.ExitCode)}, nil
	case "attempts":
		return expr.Value{V: int64(r.Attempts)}, nil
	case "duration":
		return expr.Value{V: r.Ended.Sub(r.Started).Milliseconds()}, nil
	case "start-time":
		return expr.Value{V: r.Started.UTC().Format(time.RFC3339), Author: true}, nil
	case "end-time":
		return expr.Value{V: r.Ended.UTC().Format(time.RFC3339), Author: true}, nil
	case "error", "stderr":
		return text(r.Stderr), nil
	case "json":
		return jsonValue(r, ref)
	}
	return text(r.Stdout), nil
}

// text is what a reference sees of a stream: one trailing newline is stripped.
func text(o *dag.Output) expr.Value {
	v := expr.Value{V: "", Text: true, Author: true}
	if o != nil {
		v.V = strings.TrimSuffix(strings.TrimSuffix(o.Raw, "\n"), "\r")
	}
	return v
}

func jsonValue(r *dag.Result, ref expr.Ref) (expr.Value, error) {
	v := r.Value
	if v == nil {
		if r.Stdout == nil {
			return expr.Value{}, fmt.Errorf("%s: the step printed nothing", ref)
		}
		if r.Stdout.Truncated {
			return expr.Value{}, fmt.Errorf("%s: the step's output was cut at its buffer-limit", ref)
		}
		if err := decodeJSON(r.Stdout.Raw, &v); err != nil {
			return expr.Value{}, fmt.Errorf("%s: the step's output is not JSON: %w", ref, err)
		}
	}
	ref.Path = ref.Path[1:]
	return descend(expr.Value{V: v, Author: true}, ref)
}

// within follows a reference into a parameter's parts.
func within(v expr.Value, r expr.Ref) (expr.Value, error) {
	if len(r.Path) == 0 || v.Absent {
		return v, nil
	}
	v.Format = nil // it is the whole parameter's
	return descend(v, r)
}

var errNoPart = errors.New("no such part")

func descend(v expr.Value, r expr.Ref) (expr.Value, error) {
	for _, seg := range r.Path {
		switch at := v.V.(type) {
		case map[string]any:
			part, ok := at[seg.Field]
			if seg.IsIndex || !ok {
				return v, fmt.Errorf("%s: %w", r, errNoPart)
			}
			v.V = part
		case []any:
			if !seg.IsIndex || seg.Index >= len(at) {
				return v, fmt.Errorf("%s: %w", r, errNoPart)
			}
			v.V = at[seg.Index]
		default:
			return v, fmt.Errorf("%s: %w", r, errNoPart)
		}
	}
	if n, ok := v.V.(json.Number); ok {
		v.V, _ = parseNumber(n.String())
	}
	return v, nil
}
