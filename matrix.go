package flowrun

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// matrix is the matrix of a step, compiled.
type matrix struct {
	names            []string // that a combination may have
	axes             []axis
	include, exclude []tree // each a mapping
}

// axis is a name with its values.
type axis struct {
	name   string
	values listing
}

func (c *stepCompiler) matrix(def *tool.Loop) *matrix {
	m := &matrix{}
	for _, e := range def.Axes {
		m.names = append(m.names, e.Key)
		m.axes = append(m.axes, axis{e.Key, c.listing(e.Value, "matrix."+e.Key, c.note)})
	}
	for i, v := range def.Include {
		for _, e := range v.Map {
			m.names = append(m.names, e.Key)
		}
		m.include = append(m.include, c.tree(asWritten(v), c.key(fmt.Sprintf("matrix.include[%d]", i)), c.names, c.note))
	}
	for i, v := range def.Exclude {
		m.exclude = append(m.exclude, c.tree(asWritten(v), c.key(fmt.Sprintf("matrix.exclude[%d]", i)), c.names, c.note))
	}
	return m
}

// checkMatrix reports {matrix.NAME} of a NAME that no combination has.
func (c *stepCompiler) checkMatrix(at tool.Text, r expr.Ref) {
	if r.Class != expr.Local || r.Root != "matrix" || len(r.Path) == 0 {
		return
	}
	known := c.names.combination()
	if slices.Contains(known, r.Path[0].Field) {
		return
	}
	hint := "names: " + strings.Join(known, ", ")
	if near := tool.Near(r.Path[0].Field, known); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	c.report(tool.Diagnostic{Code: "unknown-field", Severity: tool.Error, Pos: at.At(r.Off), Len: r.Len,
		Message: fmt.Sprintf("%s names nothing of the matrix", r), Hint: hint})
}

// listed reports a list that was meant to be a reference, and is text.
func (c *stepCompiler) listed(v tool.Value, key string) {
	if v.Text == nil || !oneHole(v.Text.S) {
		return
	}
	if t, _ := expr.ParseTemplate(v.Text.S, expr.Plain, c.names); t != nil && len(t.Refs()) == 0 {
		c.report(tool.Diagnostic{Code: expr.CodeUnknown, Severity: tool.Error, Pos: v.Text.At(0), Len: len(v.Text.S), Path: c.key(key),
			Message: fmt.Sprintf("%s stands for nothing", v.Text.S), Hint: "declare the parameter or name an existing step; one item of text is written [" + expr.Quoted(v.Text.S) + "]"})
	}
}

// asWritten keeps a number that YAML would change as its text: a version 1.20 must
// not become 1.2.
func asWritten(v tool.Value) tool.Value {
	switch v.Scalar.(type) {
	case int64, float64:
		if text := v.Written(); text != "" && text != plain(v.Scalar) {
			v.Scalar = text
		}
	}
	list := make([]tool.Value, len(v.List))
	for i, e := range v.List {
		list[i] = asWritten(e)
	}
	if v.List != nil {
		v.List = list
	}
	entries := make([]tool.Entry, len(v.Map))
	for i, e := range v.Map {
		entries[i] = tool.Entry{Key: e.Key, Pos: e.Pos, Value: asWritten(e.Value)}
	}
	if v.Map != nil {
		v.Map = entries
	}
	return v
}

// combination is one item of a matrix. Names keep their order, for its key.
type combination struct {
	names  []string
	values map[string]any
	added  bool // by include
}

func (c *combination) set(name string, v any) {
	if _, known := c.values[name]; !known {
		c.names = append(c.names, name)
	}
	c.values[name] = v
}

func (c combination) with(name string, v any) combination {
	next := combination{names: append([]string(nil), c.names...), values: make(map[string]any, len(c.values)+1)}
	for k, old := range c.values {
		next.values[k] = old
	}
	next.set(name, v)
	return next
}

// key is the values joined, in declared order.
func (c combination) key() string {
	words := make([]string, len(c.names))
	for i, name := range c.names {
		words[i] = plain(c.values[name])
	}
	return strings.Join(words, "-")
}

// combinations are the items: every combination of the axes, the last one turning
// fastest, without those that exclude names; then include completes the ones it
// fits, or adds its own.
func (m *matrix) combinations(sc expr.Scope) (items []any, keys []string, err error) {
	list, err := m.product(sc)
	if err == nil {
		list, err = m.without(list, sc)
	}
	if err == nil {
		list, err = m.completed(list, sc)
	}
	if err != nil {
		return nil, nil, err
	}
	items, keys = make([]any, len(list)), make([]string, len(list))
	for i, c := range list {
		items[i], keys[i] = c.values, c.key()
	}
	return items, keys, nil
}

// mostCombinations bounds a product before it is made.
const mostCombinations = 1_000_000

func (m *matrix) product(sc expr.Scope) ([]combination, error) {
	list := []combination{{values: map[string]any{}}}
	for _, a := range m.axes {
		values, err := a.values.list(sc)
		if err != nil {
			return nil, fmt.Errorf("matrix.%s: %w", a.name, err)
		}
		if len(list)*len(values) > mostCombinations {
			return nil, fmt.Errorf("the matrix has more than %d combinations", mostCombinations)
		}
		next := make([]combination, 0, len(list)*len(values))
		for _, c := range list {
			for _, v := range values {
				next = append(next, c.with(a.name, v))
			}
		}
		list = next
	}
	if len(m.axes) == 0 {
		return nil, nil // include alone says what there is
	}
	return list, nil
}

func (m *matrix) without(list []combination, sc expr.Scope) ([]combination, error) {
	for _, t := range m.exclude {
		v, err := t.value(sc)
		if err != nil {
			return nil, fmt.Errorf("matrix.exclude: %w", err)
		}
		kept := list[:0]
		for _, c := range list {
			if !c.fits(v.(map[string]any), nil) {
				kept = append(kept, c)
			}
		}
		list = kept
	}
	return list, nil
}

// completed applies include: an entry whose values contradict no combination it
// fits adds its further values to those; one that fits none is a combination of its
// own.
func (m *matrix) completed(list []combination, sc expr.Scope) ([]combination, error) {
	axes := map[string]bool{}
	for _, a := range m.axes {
		axes[a.name] = true
	}
	for _, t := range m.include {
		v, err := t.value(sc)
		if err != nil {
			return nil, fmt.Errorf("matrix.include: %w", err)
		}
		values, fitted := v.(map[string]any), false
		for i := range list {
			if c := &list[i]; !c.added && c.fits(values, axes) {
				fitted = true
				for _, name := range t.keys {
					if !axes[name] {
						c.set(name, values[name])
					}
				}
			}
		}
		if !fitted {
			c := combination{values: map[string]any{}, added: true}
			for _, name := range t.keys {
				c.set(name, values[name])
			}
			list = append(list, c)
		}
	}
	return list, nil
}

// fits says whether the combination has these values, of the names asked for; nil
// asks for all.
func (c *combination) fits(values map[string]any, names map[string]bool) bool {
	for name, v := range values {
		if (names == nil || names[name]) && !sameValue(c.values[name], v) {
			return false
		}
	}
	return true
}

// sameValue compares as the values are written: 1 and "1" are the same.
func sameValue(x, y any) bool { return reflect.DeepEqual(x, y) || plain(x) == plain(y) }
