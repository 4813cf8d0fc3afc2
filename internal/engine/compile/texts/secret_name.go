package texts

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// secrets returns the names of the secrets of the definition.
func (n Names) secrets() (list []string) {
	for _, s := range n.def.Environment.Secrets {
		list = append(list, s.Name.S)
	}
	return list
}

// checkSecretNames warns about {env.NAME} with a name that a secret of the definition almost has: its value is not
// masked, and probably empty.
func checkSecretNames(at tool.Text, path string, t *expr.Template, n Scope) (ds tool.Diagnostics) {
	secrets := n.secrets()
	for _, r := range t.Refs() {
		if r.Class != expr.Env || len(r.Path) == 0 || slices.Contains(secrets, r.Path[0].Field) {
			continue
		}
		if near := diagnostic.Misspelt(r.Path[0].Field, slices.Values(secrets)); len(near) > 0 {
			ds = append(ds, tool.Diagnostic{Code: "unknown-secret", Severity: tool.Warning, Pos: at.At(r.Off), Len: r.Len, Path: path,
				Message: fmt.Sprintf("%s is not a secret of the tool, but %s is", r, near[0]), Hint: fmt.Sprintf("write {env.%s}", near[0])})
		}
	}
	return ds
}
