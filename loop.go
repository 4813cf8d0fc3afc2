package flowrun

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// planLoop is for-each or matrix of a step, compiled.
type planLoop struct {
	def    *tool.Loop
	name   string // of the item in the step
	items  listing
	matrix *matrix
	key    *expr.Template
	when   bool  // the step's condition is about an item
	keep   int64 // bytes of the items' output that are gathered
}

// loop compiles for-each or matrix. What the step's other texts may name is then
// more: the item.
func (c *stepCompiler) loop(s *planStep) {
	def := c.step.Loop
	if def == nil {
		return
	}
	s.loop = &planLoop{def: def, name: "item", keep: c.step.Output.BufferLimit}
	c.plan.loops[c.step.Name] = true
	if s.loop.keep <= 0 {
		s.loop.keep = steps.DefaultLimit
	}
	locals := map[string]bool{"item": true, "index": true}
	switch {
	case def.Matrix():
		s.loop.matrix = c.matrix(def)
		locals["matrix"] = true
	default:
		s.loop.items = c.listing(*def.Items, "for-each.items", c.note)
		if def.As != nil {
			s.loop.name = def.As.S
			delete(locals, "item")
			locals[def.As.S] = true
		}
	}
	fixed := !slices.ContainsFunc(s.loop.refs(), func(r expr.Ref) bool { return c.names.foreign(c.plan.Definition, r) })
	c.names = c.names.within(locals)
	c.names.fixed = fixed
	c.names.as = s.loop.name
	if s.loop.matrix != nil {
		c.names.axes = s.loop.matrix.names
	}
	s.loop.key = c.text(def.Key, "for-each.key", expr.Plain, c.names)
}

// refs are the references that the items are made of.
func (l *planLoop) refs() []expr.Ref {
	if l.matrix == nil {
		return l.items.refs()
	}
	var refs []expr.Ref
	for _, a := range l.matrix.axes {
		refs = append(refs, a.values.refs()...)
	}
	for _, t := range l.matrix.include {
		refs = append(refs, t.refs()...)
	}
	return refs
}

// each is the loop as the graph has it; body is what runs for an item.
func (s *planStep) each(body dag.Node) *dag.Each {
	body.Policy.Tolerate = false // that is said of the loop
	if s.loop.when {
		body.When = s.condition()
	}
	d := s.loop.def
	return &dag.Each{Items: s.items, Item: body, Parallel: d.MaxParallel, MinSuccess: d.MinSuccess, FailFast: d.FailFast,
		Keep: s.loop.keep, Gather: s.gather}
}

// items lists what the loop goes over. It runs in a worker.
func (s *planStep) items(_ context.Context, c *dag.Call) (dag.Items, error) {
	a := c.Args().(*callArgs)
	items, err := s.loop.list(scope{view: c.View, args: a})
	if err != nil {
		return nil, a.withoutSecrets(err)
	}
	items.args = a
	if items.keys, err = s.loop.keys(items, c.View); err != nil {
		return nil, a.withoutSecrets(err)
	}
	return items, nil
}

// loopItems are the items of one walk of a loop. They are dag.Items.
type loopItems struct {
	loop   *planLoop
	args   *callArgs
	list   []any
	keys   []string
	caller bool // a caller's values are among them
}

func (l *loopItems) Len() int       { return len(l.list) }
func (l *loopItems) Keys() []string { return l.keys }

// Digest is a sum over the items, secrets masked.
func (l *loopItems) Digest() string {
	sum := sha256.New()
	enc := json.NewEncoder(sum)
	for _, v := range l.list {
		if err := enc.Encode(masked(l.args.Session().Mask(), v)); err != nil {
			return "" // what has no JSON cannot be compared
		}
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil))
}

// Args are those of the tool, with the item in scope.
func (l *loopItems) Args(i int) dag.Args {
	a := *l.args
	a.local = &local{name: l.loop.name, item: expr.Value{V: l.list[i], Author: !l.caller, Caller: l.caller, Text: true},
		index: i, matrix: l.loop.matrix != nil, outer: l.args.local}
	return &a
}

// list works out the items.
func (l *planLoop) list(sc scope) (*loopItems, error) {
	watch := &callerWatch{Scope: uncut{sc}}
	items := &loopItems{loop: l}
	var err error
	if l.matrix != nil {
		items.list, items.keys, err = l.matrix.combinations(watch)
	} else {
		items.list, err = l.items.list(watch)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list the items: %w", err)
	}
	items.caller = watch.caller
	return items, nil
}

// keys are what the items are called, nil for their numbers.
func (l *planLoop) keys(items *loopItems, v dag.View) ([]string, error) {
	keys := items.keys
	if l.key != nil {
		keys = make([]string, items.Len())
		for i := range keys {
			text, err := l.key.Text(scope{view: v, args: items.Args(i).(*callArgs)})
			if err != nil {
				return nil, fmt.Errorf("cannot name item %d: %w", i, err)
			}
			keys[i] = text
		}
	}
	for i, key := range keys {
		keys[i] = cleanKey(items.args.Session().Mask().String(key))
	}
	if l.matrix != nil {
		distinct(keys)
	}
	return keys, nil
}

// distinct numbers the keys that are the same, from the second on: x, x-2, x-3. A
// number that makes a key which another item has by itself is left out.
func distinct(keys []string) {
	taken := make(map[string]bool, len(keys))
	for _, key := range keys {
		taken[key] = true
	}
	last := make(map[string]int, len(keys)) // number given, by key
	for i, key := range keys {
		n := last[key] + 1
		for n > 1 && taken[key+"-"+strconv.Itoa(n)] {
			n++
		}
		if last[key] = n; n > 1 {
			keys[i] = key + "-" + strconv.Itoa(n)
			taken[keys[i]] = true
		}
	}
}

// cleanKey is a key as it can stand in brackets, on one line.
func cleanKey(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.Is(unicode.Bidi_Control, r):
			return '_'
		}
		return r
	}, s)
	const most = 120
	if len(s) > most {
		sum := sha256.Sum256([]byte(s))
		s = strings.ToValidUTF8(s[:most], "") + "~" + hex.EncodeToString(sum[:4])
	}
	return s
}

// gather makes the loop's output: a JSON array of the items' outputs, in order;
// null for an item that did not run.
func (s *planStep) gather(v dag.View, items []*dag.Result, r *dag.Result) {
	a := v.Args().(*callArgs)
	for i, it := range items {
		passUncleaned(r, it, fmt.Sprintf("item %d: ", i))
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	cut := false
	for i, it := range items {
		b.WriteString([...]string{"[", ","}[min(i, 1)])
		switch {
		case !began(it):
			b.WriteString("null")
		case it.Stdout == nil:
			b.WriteString(`""`)
		default:
			cut = cut || it.Stdout.Truncated
			enc.Encode(text(it.Stdout).V) // text never fails
			b.Truncate(b.Len() - 1)       // the newline of Encode
		}
	}
	if len(items) == 0 {
		b.WriteByte('[')
	}
	b.WriteString("]\n") // a reference strips it
	out, err := a.Session().Text(v.Path(), 1, b.String())
	if err == nil {
		r.Stdout = out
		out.Truncated = out.Truncated || cut
		return
	}
	if r.Status == dag.Succeeded {
		r.Status, r.ExitCode, r.Reason = dag.Failed, 1, "output"
		r.Message = a.Session().Mask().String(fmt.Sprintf("cannot write the loop's output: %v", err))
	}
}

// parsed are the outputs of a loop's items, each as the JSON that it is, else as its
// text.
func parsed(v any) any {
	list, _ := v.([]any)
	for i, e := range list {
		var part any
		if text, ok := e.(string); ok && decodeJSON(text, &part) == nil {
			list[i] = part
		}
	}
	return v
}

// local is what an item of a loop has in scope, and the loops around it.
type local struct {
	name   string
	item   expr.Value
	index  int
	matrix bool
	outer  *local
}

// lookupLocal finds what a name stands for in an item, or in a handler.
func (s scope) lookupLocal(r expr.Ref) (expr.Value, error) {
	if r.Root == "run" {
		return s.outcome(r)
	}
	for l := s.args.local; l != nil; l = l.outer {
		switch {
		case r.Root == l.name, r.Root == "matrix" && l.matrix:
			if r.Root == "matrix" && l.lacks(r) {
				return expr.Value{Absent: true, Author: true}, nil
			}
			v, err := within(l.item, r)
			if errors.Is(err, errNoPart) {
				err = fmt.Errorf("the item has no such part: it is %s", expr.Quoted(plain(l.item.V)))
			}
			return v, err
		case r.Root == "index":
			return expr.Value{V: int64(l.index), Author: true}, nil
		}
	}
	return expr.Value{}, expr.ErrUnknown
}

// lacks says whether a combination has no value of a name that others have.
func (l *local) lacks(r expr.Ref) bool {
	values, _ := l.item.V.(map[string]any)
	return len(r.Path) > 0 && values[r.Path[0].Field] == nil
}
