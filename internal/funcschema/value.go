package funcschema

import (
	"math"
	"regexp"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/tool"
)

// jsonValues are the values that fit a type of JSON Schema, "" for any, as JSON has them. A
// null fits none where schemas are sanitized. nil where none fits.
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

// fit is a value in the type that parameter-mapping gives its parameter: a number
// that is shown as text becomes its text. ok is false where there is no such value.
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

// referencePattern is a brace that a name, or a second brace, follows, but for ${NAME}.
var referencePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^$])\{[A-Za-z_{]`) })

// hasReference says whether a default may mention a parameter or a variable. What only
// looks so is taken for one: a default that is not shown is better than a wrong one.
func hasReference(v tool.Value) bool {
	return v.Text != nil && referencePattern().MatchString(v.Text.S) ||
		slices.ContainsFunc(v.List, hasReference) ||
		slices.ContainsFunc(v.Map, func(e tool.Entry) bool { return hasReference(e.Value) })
}
