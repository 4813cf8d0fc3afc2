package call

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Raw returns the part of a stream that is in memory, "" for none.
func Raw(o *dag.Output) string {
	if o == nil {
		return ""
	}
	return o.Raw
}

// UntruncatedScope is a scope that returns an error for a truncated stream: a loop over a part of a list would look
// like one over the whole list.
type UntruncatedScope struct{ Scope }

// parseItems replaces each output of a loop's items by the JSON value that it contains, if it is valid JSON.
func parseItems(v any) any {
	list, _ := v.([]any)
	for i, e := range list {
		var part any
		if text, ok := e.(string); ok && value.DecodeJSON(text, &part) == nil {
			list[i] = part
		}
	}
	return v
}

// resultValue returns the result of a step: its structured value if it has one, else its text, parsed as JSON if that
// is an object or a list.
func resultValue(r *dag.Result, ref expr.Ref) (expr.Value, error) {
	v := r.Value
	if v == nil {
		out := Text(r.Stdout).V.(string)
		if r.Stdout != nil && r.Stdout.Truncated {
			return expr.Value{}, errCut
		}
		v = out
		if trimmed := strings.TrimSpace(diagnostic.WithoutMark(out)); r.Structured || strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
			var parsed any
			if err := value.DecodeJSON(out, &parsed); err == nil {
				v = parsed
			}
		}
	}
	ref.Path = ref.Path[1:]
	return descend(expr.Value{V: v, Author: true}, ref)
}

// Scope resolves the references of one call. View is zero where steps cannot be referred to. Last is the result of the
// last attempt, for retry.when, and for the condition of the step Own, which refers to its own result.
type Scope struct {
	View  dag.View
	Frame *Frame
	Last  *dag.Result
	Own   string
}

// result returns the result of a step, and whether it is that of a loop.
func (s Scope) result(step string) (r *dag.Result, loop bool) {
	if step == s.Own {
		return s.Last, false
	}
	return s.View.Result(dag.ID(step)), s.Frame.Plan.Loops[step]
}

// Lookup returns the value of a reference.
func (s Scope) Lookup(r expr.Ref) (expr.Value, error) {
	switch r.Class {
	case expr.Parameter:
		v, ok := s.Frame.Values[r.Root]
		if !ok {
			return v, expr.ErrUnknown
		}
		return partOf(v, r)
	case expr.Arguments:
		if r.Root == plan.CallInput {
			return expr.Value{V: s.Frame.inOrder(), Author: true}, nil
		}
		return s.argument(r)
	case expr.Variable:
		if r.Root == plan.RandomID {
			return s.Frame.randomID()
		}
		v, ok := s.Frame.RunEnv.variable(r.Root, s.Frame.Plan.Name())
		if !ok { // a value in environment: the only place where other names are allowed
			if s.Frame.vars.unknown[r.Root] {
				return expr.Value{}, expr.ErrUnknown
			}
			v, ok = s.Frame.vars.lookup(r.Root, s.Frame.RunEnv.Vars)
		}
		if !ok {
			s.Frame.session.Notify(notice.Notice{Code: notice.Unset,
				Message: fmt.Sprintf("%s in environment is empty, because the environment variable is not set; set it, or declare a parameter", r)})
		}
		return expr.Value{V: v, Author: true}, nil
	case expr.Env:
		if s.Frame.vars.unknown[r.Path[0].Field] {
			return expr.Value{}, expr.ErrUnknown
		}
		v, ok := s.Frame.vars.lookup(r.Path[0].Field, s.Frame.RunEnv.Vars)
		if !ok && !r.Decides() && s.Frame.session != nil {
			s.Frame.session.Notify(notice.Notice{Code: notice.Unset,
				Message: fmt.Sprintf("%s is empty, because the environment variable is not set", r)})
		}
		return expr.Value{V: v, Text: true, Author: true, Absent: !ok}, nil
	case expr.Local:
		return s.LookupLocal(r)
	case expr.State:
		return s.Frame.kept(r)
	case expr.Last:
		return s.lastField(r)
	case expr.Step:
		if s.View == (dag.View{}) {
			return expr.Value{}, expr.ErrUnknown
		}
		s.warnCut(r)
		res, loop := s.result(r.Root)
		v, err := stepValue(res, r, loop)
		if errors.Is(err, errNoPart) && s.optional(r) {
			return expr.Value{Absent: true}, nil
		}
		if s.Frame.Plan.Scripts[r.Root] && s.Frame.HasCallerValues() {
			v.Author, v.Caller, v.AllowDash = false, true, s.Frame.RunEnv.AllowDash
		}
		return v, err
	}
	return expr.Value{}, fmt.Errorf("%s is not available here", r)
}

// warnCut warns, once, that a reference reads only the beginning of a step's output.
func (s Scope) warnCut(ref expr.Ref) {
	r, _ := s.result(ref.Root)
	if r == nil || s.Frame.session == nil {
		return
	}
	var o *dag.Output
	switch plan.Read(ref) {
	case steps.Stdout:
		o = r.Stdout
	case steps.Stderr:
		o = r.Stderr
	}
	if o != nil && o.Truncated {
		s.Frame.session.Notify(notice.Notice{Code: notice.Truncated, Step: dag.ID(ref.Root),
			Message: fmt.Sprintf("%s was cut at the buffer-limit of step %s, so only its beginning is used; raise output.buffer-limit", ref, ref.Root)})
	}
}

func (s Scope) lastField(ref expr.Ref) (expr.Value, error) {
	r := s.Last
	switch ref.Path[0].Field {
	case "exit-code":
		return expr.Value{V: int64(r.ExitCode)}, nil
	case "attempts":
		return expr.Value{V: int64(r.Attempts)}, nil
	case "timed-out":
		return expr.Value{V: r.Status == dag.TimedOut}, nil
	case "error":
		return Text(r.Stderr), nil
	case "outputs":
		return outputValue(r, ref)
	}
	return Text(r.Stdout), nil
}

// Began reports whether a step ran, even if only partly: a step that was cancelled while running has output.
func Began(r *dag.Result) bool { return r.Status.Executed() || !r.Started.IsZero() }

// stepValue returns a field of a step's result; every field of a step that never began is nil. loop says that the
// step has a loop.
func stepValue(r *dag.Result, ref expr.Ref, loop bool) (expr.Value, error) {
	field := ref.Path[0].Field
	if r == nil {
		return expr.Value{}, expr.ErrUnknown
	}
	if field == "status" {
		return expr.Value{V: r.Status.String(), Author: true}, nil
	}
	if !Began(r) {
		return expr.Value{Author: true, Absent: true}, nil
	}
	switch field {
	case "exit-code":
		return expr.Value{V: int64(r.ExitCode)}, nil
	case "attempts":
		return expr.Value{V: int64(r.Attempts)}, nil
	case "duration":
		return expr.Value{V: r.Took().Milliseconds()}, nil
	case "start-time":
		return expr.Value{V: r.Started.UTC().Format(time.RFC3339), Author: true}, nil
	case "end-time":
		return expr.Value{V: r.Ended.UTC().Format(time.RFC3339), Author: true}, nil
	case "error", "stderr":
		return Text(r.Stderr), nil
	case "json":
		return jsonValue(r, ref, loop)
	case "value":
		return resultValue(r, ref)
	case "outputs":
		return outputValue(r, ref)
	case "artifacts":
		return artifactPath(r, ref, loop)
	}
	return Text(r.Stdout), nil
}

// artifactPath returns the path of an artifact, or for a loop those of its items; nil if it was not kept.
func artifactPath(r *dag.Result, ref expr.Ref, loop bool) (expr.Value, error) {
	v := expr.Value{Author: true}
	kept := r.Artifacts()
	i := slices.IndexFunc(kept, func(a dag.Artifact) bool { return a.Name == ref.Path[1].Field })
	switch {
	case i >= 0 && kept[i].Path != "":
		v.V = kept[i].Path
	case i >= 0 || loop:
		list := []any{}
		if i >= 0 {
			for _, path := range kept[i].Paths {
				list = append(list, path)
			}
		}
		v.V = list
	}
	ref.Path = ref.Path[2:]
	return descend(v, ref)
}

// Text returns the value of a stream for references: without one line end at its end.
func Text(o *dag.Output) expr.Value {
	v := expr.Value{V: "", Text: true, Author: true}
	if o != nil {
		v.V = value.WithoutLineEnd(o.Raw)
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
		if err := value.DecodeJSON(r.Stdout.Raw, &v); err != nil {
			return expr.Value{}, notJSON(r.Stdout.Raw, err)
		}
	}
	if loop {
		v = parseItems(v)
	}
	ref.Path = ref.Path[1:]
	return descend(expr.Value{V: v, Author: true}, ref)
}

// outputValue returns the declared outputs of a step, one of them, or a part of one. An output that the step did not write
// is nil.
func outputValue(r *dag.Result, ref expr.Ref) (expr.Value, error) {
	all, err := r.Outputs.All()
	ref.Path = ref.Path[1:]
	if err != nil || all == nil || len(ref.Path) > 0 && all[ref.Path[0].Field] == nil {
		return expr.Value{Author: true}, err
	}
	return descend(expr.Value{V: all, Author: true}, ref)
}

// partOf follows a reference into a parameter's parts.
func partOf(v expr.Value, r expr.Ref) (expr.Value, error) {
	if len(r.Path) == 0 || v.Absent {
		return v, nil
	}
	v.Format = nil // the format applies to the whole parameter only
	return descend(v, r)
}

var errNoPart = errors.New("the value does not have this field")

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
		if number, err := value.ParseNumber(n.String()); err == nil { // otherwise it is beyond the range of float64
			v.V = number
		}
	}
	return v, nil
}

// outcome returns what a handler sees of the run: the combined result of the steps it follows; for a handler of a
// step, the result of that step.
func (s Scope) outcome(r expr.Ref) (expr.Value, error) {
	if s.View == (dag.View{}) {
		return expr.Value{}, expr.ErrUnknown
	}
	for _, gate := range s.Frame.Plan.Gates {
		res := s.View.Result(gate)
		if res == nil {
			continue
		}
		switch r.Path[0].Field {
		case "status":
			return expr.Value{V: res.Status.String(), Author: true}, nil
		case "exit-code":
			return expr.Value{V: int64(res.ExitCode)}, nil
		}
		return expr.Value{V: string(res.Culprit), Author: true}, nil
	}
	return expr.Value{}, expr.ErrUnknown
}

// LookupLocal returns the value of a name that belongs to a loop item or to a handler.
func (s Scope) LookupLocal(r expr.Ref) (expr.Value, error) {
	if r.Root == "run" {
		return s.outcome(r)
	}
	for l := s.Frame.Local; l != nil; l = l.Outer {
		switch {
		case l.has(r.Root):
			if r.Root == "matrix" && l.lacks(r) {
				return expr.Value{Absent: true, Author: true}, nil
			}
			v, err := l.part(r)
			if errors.Is(err, errNoPart) {
				err = fmt.Errorf("the item does not have this field: it is %s", valuetext.Quoted(value.Plain(l.Item.V)))
			}
			return v, err
		case r.Root == "index":
			return expr.Value{V: int64(l.Index), Author: true}, nil
		}
	}
	return expr.Value{}, expr.ErrUnknown
}

// lacks reports whether a combination has no value for a name that other combinations have.
func (l *Local) lacks(r expr.Ref) bool {
	return len(r.Path) > 0 && l.Item.Named[r.Path[0].Field].V == nil
}

// has reports whether a name is that of the item.
func (l *Local) has(name string) bool {
	return name == l.Name || name == "matrix" && l.loop.Matrix != nil
}

// part returns the item, or the part of it that a reference reads.
func (l *Local) part(r expr.Ref) (expr.Value, error) {
	if len(r.Path) > 0 {
		if v, named := l.Item.Named[r.Path[0].Field]; named {
			v.Text, r.Path = true, r.Path[1:]
			return partOf(v, r)
		}
	}
	return partOf(l.Item.Value, r)
}

// Local holds the names that a loop item has in scope, and the loops around it.
type Local struct {
	Name  string
	Item  plan.Item
	Index int
	Outer *Local

	loop *plan.Loop
}

// Lookup implements expr.Scope.
func (u UntruncatedScope) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := u.Scope.Lookup(r)
	if err != nil || r.Class != expr.Step {
		return v, err
	}
	var o *dag.Output
	switch res := u.View.Result(dag.ID(r.Root)); r.Path[0].Field {
	case "output", "stdout":
		o = res.Stdout
	case "error", "stderr":
		o = res.Stderr
	}
	if o != nil && o.Truncated {
		return v, errCut
	}
	return v, nil
}

// argument returns the value of a reference to the arguments of the call: all of them as an object, or one of them.
func (s Scope) argument(r expr.Ref) (expr.Value, error) {
	if len(r.Path) == 0 {
		if s.Frame.Guessed {
			return expr.Value{}, expr.ErrUnknown
		}
		var all expr.Watch
		for _, v := range s.Frame.Values {
			all.Add(v)
		}
		v := all.Value(s.Frame.All())
		v.Author = true
		return v, nil
	}
	v, ok := s.Frame.Values[r.Path[0].Field]
	switch {
	case !ok && s.Frame.Guessed:
		return v, expr.ErrUnknown
	case !ok || r.Path[0].IsIndex:
		return v, errNoPart
	}
	r.Path = r.Path[1:]
	return partOf(v, r)
}

// optional reports whether a reference reads a declared but absent parameter from the result of pre-processing: it is
// then absent, not an error.
func (s Scope) optional(r expr.Ref) bool {
	if r.Root != plan.StepPre || len(r.Path) != 2 || s.Frame.Plan.Definition.Format != tool.Markdown {
		return false
	}
	v, declared := s.Frame.Values[r.Path[1].Field]
	return declared && v.Absent
}

// randomID returns a text that is unique to the run and the same after a resume.
func (a *Frame) randomID() (expr.Value, error) {
	if a.run == "" { // a preview
		return expr.Value{}, expr.ErrUnknown
	}
	sum := sha256.Sum256([]byte("random_id " + a.run))
	return expr.Value{V: hex.EncodeToString(sum[:8]), Author: true}, nil
}

// notJSON is the error that the output of a step is not JSON. It has the position of the first
// problem instead of the state of the parser.
func notJSON(text string, err error) error {
	text = diagnostic.WithoutMark(text)
	if at, ok := errors.AsType[*json.SyntaxError](err); ok && at.Offset > 0 && at.Offset <= int64(len(text)) {
		r, _ := utf8.DecodeRuneInString(text[at.Offset-1:])
		return fmt.Errorf("the step's output is not JSON: unexpected character %q at position %d", r, at.Offset)
	}
	return fmt.Errorf("the step's output is not JSON: %w", err)
}
