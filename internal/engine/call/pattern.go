package call

import (
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Pattern renders a pattern of files. Wildcards in values are literal characters.
func Pattern(t *expr.Template, s expr.Scope) (string, error) { return t.Text(literalScope{s}) }

type literalScope struct{ expr.Scope }

// Lookup implements expr.Scope.
func (s literalScope) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := s.Scope.Lookup(r)
	if text, ok := v.V.(string); ok {
		v.V = cache.Literal(text)
	}
	return v, err
}
