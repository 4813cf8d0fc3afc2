package funcschema

import (
	"math"
	"regexp"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// jsonValues returns the values that fit a type of JSON Schema, "" for any, as JSON values. If schemas are
// sanitized, null fits no type. It returns nil if no value fits.
func (m *builder) jsonValues(values []tool.Value, typ string) []any {
	var all []any
	for _, v := range values {
		j := v.Data()
		if m.sanitize && holdsNull(j) {
			continue
		}
		if j, ok := fit(v, j, typ); ok {
			all = append(all, j)
		}
	}
	return all
}

// fit converts a value to the type that parameter-mapping gives its parameter. A number that is declared as
// text becomes its text. ok is false if there is no such value.
func fit(v tool.Value, j any, typ string) (any, bool) {
	ok := false
	switch typ {
	case "":
		ok = true
	case "string":
		if _, ok = j.(string); !ok && v.Written() != "" {
			return v.Written(), true
		}
	case "number":
		ok = isNumber(j)
	case "integer":
		f, fraction := j.(float64)
		ok = isNumber(j) && !(fraction && f != math.Trunc(f))
	case "boolean":
		_, ok = j.(bool)
	case "array":
		_, ok = j.([]any)
	case "object":
		_, ok = j.(map[string]any)
	}
	return j, ok
}

func isNumber(j any) bool {
	switch j.(type) {
	case int, int64, float64:
		return true
	}
	return false
}

func holdsNull(j any) bool {
	switch j := j.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(j, holdsNull)
	case map[string]any:
		for _, e := range j {
			if holdsNull(e) {
				return true
			}
		}
	}
	return false
}

// referencePattern matches a brace followed by a name or a second brace, except in ${NAME}.
var referencePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^$])\{[A-Za-z_{]`) })

// hasReference reports whether a default may refer to a parameter or a variable. It may report true for plain
// text: a missing default is better than a wrong one.
func hasReference(v tool.Value) bool {
	return v.Text != nil && referencePattern().MatchString(v.Text.S) ||
		slices.ContainsFunc(v.List, hasReference) ||
		slices.ContainsFunc(v.Map, func(e tool.Entry) bool { return hasReference(e.Value) })
}
