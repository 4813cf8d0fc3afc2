package flowrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
)

// scope resolves the references of one call. view is zero where no step may be
// mentioned; last is set for retry.when.
type scope struct {
	view dag.View
	args *callArgs
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
	case expr.Arguments:
		if r.Root == callInput {
			return expr.Value{V: s.args.inOrder(), Author: true}, nil
		}
		return s.argument(r)
	case expr.Variable:
		if r.Root == randomID {
			return s.args.randomID()
		}
		v, ok := s.args.world.variable(r.Root, s.args.plan.Name())
		if !ok { // an environment value, the only place for other names
			if s.args.unknown[r.Root] {
				return expr.Value{}, expr.ErrUnknown
			}
			v, ok = s.args.env(r.Root)
		}
		if !ok {
			s.args.session.Notify(steps.Notice{Code: steps.NoticeUnset,
				Message: fmt.Sprintf("%s in environment stands for a variable that is not set, and is empty; set it, or declare a parameter", r)})
		}
		return expr.Value{V: v, Author: true}, nil
	case expr.Env:
		if s.args.unknown[r.Path[0].Field] {
			return expr.Value{}, expr.ErrUnknown
		}
		v, ok := s.args.env(r.Path[0].Field)
		return expr.Value{V: v, Text: true, Author: true, Absent: !ok}, nil
	case expr.Local:
		return s.lookupLocal(r)
	case expr.Last:
		return s.lastField(r.Path[0].Field), nil
	case expr.Step:
		if s.view == (dag.View{}) {
			return expr.Value{}, expr.ErrUnknown
		}
		s.warnCut(r)
		v, err := stepValue(s.view.Result(dag.ID(r.Root)), r, s.args.plan.loops[r.Root])
		if errors.Is(err, errNoPart) && s.optional(r) {
			return expr.Value{Absent: true}, nil
		}
		if s.args.plan.scripts[r.Root] && s.args.callers() {
			v.Author, v.Caller, v.AllowDash = false, true, s.args.world.AllowDash
		}
		return v, err
	}
	return expr.Value{}, fmt.Errorf("%s is not known here", r)
}

// warnCut gives notice, once, that a reference reads less than a step printed.
func (s scope) warnCut(ref expr.Ref) {
	r := s.view.Result(dag.ID(ref.Root))
	if r == nil || s.args.session == nil {
		return
	}
	var o *dag.Output
	switch read(ref) {
	case steps.Stdout:
		o = r.Stdout
	case steps.Stderr:
		o = r.Stderr
	}
	if o != nil && o.Truncated {
		s.args.session.Notify(steps.Notice{Code: steps.NoticeTruncated, Step: dag.ID(ref.Root),
			Message: fmt.Sprintf("%s was cut at the buffer-limit of step %s, so that what reads it sees only the beginning; raise output.buffer-limit", ref, ref.Root)})
	}
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

// began says whether a step ran, if only in part: what was cancelled under way has
// printed what it has.
func began(r *dag.Result) bool { return r.Status.Executed() || !r.Started.IsZero() }

// stepValue is a field of a step's result (S1-127); every field of a step that
// never began is nil (S1-053). loop says that the step is one.
func stepValue(r *dag.Result, ref expr.Ref, loop bool) (expr.Value, error) {
	field := ref.Path[0].Field
	if r == nil {
		return expr.Value{}, expr.ErrUnknown
	}
	if field == "status" {
		return expr.Value{V: r.Status.String(), Author: true}, nil
	}
	if !began(r) {
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
		return jsonValue(r, ref, loop)
	case "value":
		return resultValue(r, ref)
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

var errCut = errors.New("the step's output was cut at its buffer-limit; raise it")

func jsonValue(r *dag.Result, ref expr.Ref, loop bool) (expr.Value, error) {
	v := r.Value
	if v == nil {
		if r.Stdout == nil {
			return expr.Value{}, errors.New("the step printed nothing")
		}
		if r.Stdout.Truncated {
			return expr.Value{}, errCut
		}
		if err := decodeJSON(r.Stdout.Raw, &v); err != nil {
			return expr.Value{}, fmt.Errorf("the step's output is not JSON: %w", err)
		}
	}
	if loop {
		v = parsed(v)
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

var errNoPart = errors.New("the value has no such part")

func descend(v expr.Value, r expr.Ref) (expr.Value, error) {
	for _, seg := range r.Path {
		switch at := v.V.(type) {
		case map[string]any:
			part, ok := at[seg.Field]
			if seg.IsIndex || !ok {
				return v, errNoPart
			}
			v.V = part
		case []any:
			if !seg.IsIndex || seg.Index >= len(at) {
				return v, errNoPart
			}
			v.V = at[seg.Index]
		default:
			return v, errNoPart
		}
	}
	if n, ok := v.V.(json.Number); ok {
		v.V, _ = parseNumber(n.String())
	}
	return v, nil
}
