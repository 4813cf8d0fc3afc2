package plan

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// ItemList is a compiled list from a definition: the items of for-each, or the values of a name in a matrix.
type ItemList struct {
	ValueTemplate *ValueTemplate   // a list, or text that is exactly one reference
	Over          *expr.Expression // or other text
}

// refs returns the references in the list.
func (l ItemList) refs() []expr.Ref {
	switch {
	case l.ValueTemplate != nil:
		return l.ValueTemplate.Refs()
	case l.Over != nil:
		return l.Over.Refs()
	}
	return nil
}

// OnePlaceholder reports whether a text is a single reference and nothing else.
func OnePlaceholder(s string) bool {
	return strings.HasPrefix(s, "{") && strings.IndexByte(s, '}') == len(s)-1
}

// List evaluates the list. Each value has the properties of those that it was computed from.
func (l ItemList) List(sc expr.Scope) ([]expr.Value, error) {
	if l.Over == nil && l.ValueTemplate.IsList {
		list, err := l.ValueTemplate.parts(sc)
		if err == nil {
			_, err = l.ValueTemplate.whole(list)
		}
		return list, err
	}
	watch := &expr.Watch{Scope: sc}
	var v any
	var err error
	if l.Over != nil {
		v, err = l.Over.Value(watch)
	} else {
		v, err = l.ValueTemplate.Value(watch)
	}
	if err != nil {
		return nil, err
	}
	list, err := ListOf(v)
	values := make([]expr.Value, len(list))
	for i, e := range list {
		values[i] = watch.Value(e)
	}
	return values, err
}

// ListOf converts the value of items to a list: a list is used as it is, an object gives its fields, and a text its
// JSON array or its lines.
func ListOf(v any) ([]any, error) {
	switch v := v.(type) {
	case nil:
		return []any{}, nil
	case []any:
		return v, nil
	case string:
		var list []any
		v = diagnostic.WithoutMark(v)
		if text := strings.TrimSpace(v); strings.HasPrefix(text, "[") && value.StrictJSON(text, &list) == nil {
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
	if r.Kind() != reflect.Slice { // an expression returns []int or []string
		return nil, fmt.Errorf("expected a list, found %s", valuetext.Quoted(value.Plain(v)))
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
