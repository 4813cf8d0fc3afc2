package funcschema

import (
	"regexp"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
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
		if typ != "" {
			j = v.As(typ)
		}
		if j != nil || typ == "" {
			all = append(all, j)
		}
	}
	return all
}

func isNumber(j any) bool { return value.OfType("number", j) != nil }

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
