package flowrun

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// listing is a list as it was written, compiled: the items of for-each, or the values
// of a name in a matrix.
type listing struct {
	tree *tree            // a list, or text that is exactly one reference
	over *expr.Expression // or other text
}

// refs are the references in the list.
func (l listing) refs() []expr.Ref {
	switch {
	case l.tree != nil:
		return l.tree.refs()
	case l.over != nil:
		return l.over.Refs()
	}
	return nil
}

// listing compiles a list; note hears of its references.
func (c *stepCompiler) listing(v tool.Value, key string, note func(tool.Text, []expr.Ref)) listing {
	if v.Text == nil || oneHole(v.Text.S) {
		c.listed(v, key)
		t := c.tree(asWritten(v), c.key(key), c.names, note)
		return listing{tree: &t}
	}
	over, ps := expr.ParseExpression(v.Text.S, c.names)
	if c.found(*v.Text, c.key(key), ps, c.names) {
		return listing{}
	}
	note(*v.Text, over.Refs())
	if len(over.Refs()) == 0 {
		c.constant(*v.Text, over, key)
	}
	return listing{over: over}
}

// constant reports an expression that names nothing and is no list.
func (c *stepCompiler) constant(at tool.Text, over *expr.Expression, key string) {
	v, err := over.Value(nil)
	if err == nil {
		_, err = listOf(v)
	}
	if _, isText := v.(string); isText {
		err = fmt.Errorf("a list was expected, found the text %s", expr.Quoted(v.(string)))
	}
	if err != nil {
		c.report(tool.Diagnostic{Code: "wrong-type", Severity: tool.Error, Pos: at.At(0), Len: max(1, len(at.S)), Path: c.key(key),
			Message: err.Error(), Hint: "write [a, b], a reference to a list in quotes, or an expression such as 1..5"})
	}
}

// oneHole says whether a text is a reference and nothing else.
func oneHole(s string) bool {
	return strings.HasPrefix(s, "{") && strings.IndexByte(s, '}') == len(s)-1
}

// list works the list out.
func (l listing) list(sc expr.Scope) ([]any, error) {
	var v any
	var err error
	if l.over != nil {
		v, err = l.over.Value(sc)
	} else {
		v, err = l.tree.value(sc)
	}
	if err != nil {
		return nil, err
	}
	return listOf(v)
}

// listOf makes a list of what items stands for: a list as it is, an object as its
// fields, text as the JSON array that it is or as its lines.
func listOf(v any) ([]any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return v, nil
	case string:
		var list []any
		if text := strings.TrimSpace(v); strings.HasPrefix(text, "[") && decodeJSON(text, &list) == nil {
			return list, nil
		}
		list = []any{}
		for line := range strings.Lines(v) {
			if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
				list = append(list, line)
			}
		}
		return list, nil
	case map[string]any:
		list := make([]any, 0, len(v))
		for _, key := range slices.Sorted(maps.Keys(v)) {
			list = append(list, map[string]any{"key": key, "value": v[key]})
		}
		return list, nil
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice { // what an expression makes: []int, []string
		return nil, fmt.Errorf("a list was expected, found %s", expr.Quoted(plain(v)))
	}
	list := make([]any, r.Len())
	for i := range list {
		list[i] = r.Index(i).Interface()
		if n, ok := list[i].(int); ok {
			list[i] = int64(n)
		}
	}
	return list, nil
}

// uncut is a scope that refuses a stream of which only the beginning is there: a loop
// over a part of a list would look like one over all of it.
type uncut struct{ scope }

// Lookup finds what a reference stands for.
func (u uncut) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := u.scope.Lookup(r)
	if err != nil || r.Class != expr.Step {
		return v, err
	}
	var o *dag.Output
	switch res := u.view.Result(dag.ID(r.Root)); r.Path[0].Field {
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
