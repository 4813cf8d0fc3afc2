package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/value"
)

// ItemList is a list as it was written, compiled: the items of for-each, or the values
// of a name in a matrix.
type ItemList struct {
	ValueTemplate *ValueTemplate   // a list, or text that is exactly one reference
	Over          *expr.Expression // or other text
}

// refs are the references in the list.
func (l ItemList) refs() []expr.Ref {
	switch {
	case l.ValueTemplate != nil:
		return l.ValueTemplate.Refs()
	case l.Over != nil:
		return l.Over.Refs()
	}
	return nil
}

// OnePlaceholder says whether a text is a reference and nothing else.
func OnePlaceholder(s string) bool {
	return strings.HasPrefix(s, "{") && strings.IndexByte(s, '}') == len(s)-1
}

// List works the list out.
func (l ItemList) List(sc expr.Scope) ([]any, error) {
	var v any
	var err error
	if l.Over != nil {
		v, err = l.Over.Value(sc)
	} else {
		v, err = l.ValueTemplate.Value(sc)
	}
	if err != nil {
		return nil, err
	}
	return ListOf(v)
}

// ListOf makes a list of what items stands for: a list as it is, an object as its
// fields, text as the JSON array that it is or as its lines.
func ListOf(v any) ([]any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return v, nil
	case string:
		var list []any
		if text := strings.TrimSpace(v); strings.HasPrefix(text, "[") && value.DecodeJSON(text, &list) == nil {
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
		return nil, fmt.Errorf("expected a list, found %s", expr.Quoted(value.Plain(v)))
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
