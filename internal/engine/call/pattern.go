package call

import (
	"strings"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Pattern renders a pattern of files that a step makes. Wildcards in values are literal characters.
func (a *Frame) Pattern(t *expr.Template, s expr.Scope) (string, error) {
	return a.FilePattern(t, literalScope{s})
}

// FilePattern renders a pattern of files. A ~ at its start is the home directory.
func (a *Frame) FilePattern(t *expr.Template, s expr.Scope) (string, error) {
	text, err := t.Text(s)
	if rest := strings.TrimPrefix(text, "~"); rest != text && (rest == "" || rest[0] == '/') {
		text = cache.Literal(a.RunEnv.Home) + rest
	}
	return text, err
}

type literalScope struct{ expr.Scope }

// Lookup implements expr.Scope.
func (s literalScope) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := s.Scope.Lookup(r)
	if text, ok := v.V.(string); ok {
		v.V = cache.Literal(text)
	}
	return v, err
}
