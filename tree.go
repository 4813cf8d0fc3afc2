package flowrun

import (
	"fmt"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// tree is a YAML value whose strings are templates: a parameter's default, or a
// value under with. Types survive: a string that is exactly one reference has
// that reference's type.
type tree struct {
	scalar any
	text   *expr.Template
	list   []tree
	keys   []string // with list: a mapping
	isList bool
	isMap  bool
	broken bool // a text in it has errors, which are told
}

// tree compiles a value; note hears of every text's references.
func (c *compiler) tree(v tool.Value, path string, n expr.Names, note func(tool.Text, []expr.Ref)) tree {
	t := tree{scalar: v.Scalar, isList: v.List != nil, isMap: v.Map != nil}
	switch {
	case v.Text != nil:
		if t.text = c.template(v.Text, path, expr.Plain, n); t.text != nil {
			note(*v.Text, t.text.Refs())
		}
		t.broken = t.text == nil
	case t.isList:
		for i, e := range v.List {
			t.add(c.tree(e, fmt.Sprintf("%s[%d]", path, i), n, note))
		}
	case t.isMap:
		for _, e := range v.Map {
			t.keys = append(t.keys, e.Key)
			t.add(c.tree(e.Value, path+"."+e.Key, n, note))
		}
	}
	return t
}

// add adds what the tree holds.
func (t *tree) add(in tree) {
	t.list, t.broken = append(t.list, in), t.broken || in.broken
}

// value renders the tree.
func (t tree) value(sc expr.Scope) (any, error) {
	switch {
	case t.text != nil:
		return t.text.Value(sc)
	case t.isList:
		list := make([]any, len(t.list))
		for i, e := range t.list {
			v, err := e.value(sc)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return t.bounded(list)
	case t.isMap:
		m := make(map[string]any, len(t.list))
		for i, e := range t.list {
			v, err := e.value(sc)
			if err != nil {
				return nil, err
			}
			m[t.keys[i]] = v
		}
		return t.bounded(m)
	}
	return t.scalar, nil
}

// bounded refuses a list or an object that is too large when written out: the same large
// value can stand in it many times.
func (t tree) bounded(v any) (any, error) {
	if expr.Size(v) > expr.MaxValue {
		what := "the list"
		if t.isMap {
			what = "the object"
		}
		return nil, &expr.SizeError{What: what, Most: expr.MaxValue}
	}
	return v, nil
}

// size is how large the value becomes, at least, where each reference is as large as of
// says.
func (t tree) size(of func(expr.Ref) int) int {
	if t.text != nil {
		return t.text.Length(of)
	}
	n := 0
	for _, e := range t.list {
		n = min(n+e.size(of), 1<<40)
	}
	return n
}

// refs lists every reference in the tree.
func (t tree) refs() []expr.Ref {
	var refs []expr.Ref
	if t.text != nil {
		refs = t.text.Refs()
	}
	for _, e := range t.list {
		refs = append(refs, e.refs()...)
	}
	return refs
}
