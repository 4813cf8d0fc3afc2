package compile

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// isSecret reports whether the definition of the names lists a variable of the environment as a secret.
func isSecret(n expr.Names, name string) bool {
	return slices.Contains(secretsOf(n), name)
}

// secretsOf returns the names of the secrets of the definition that the names are from.
func secretsOf(n expr.Names) []string {
	if known, ok := n.(interface{ secrets() []string }); ok {
		return known.secrets()
	}
	return nil
}

func (n names) secrets() (list []string) {
	if n.def == nil {
		return nil
	}
	for _, s := range n.def.Environment.Secrets {
		list = append(list, s.Name.S)
	}
	return list
}

// checkSecretNames warns about {env.NAME} with a name that a secret of the definition almost has: its value is not
// masked, and probably empty.
func checkSecretNames(at tool.Text, path string, t *expr.Template, n expr.Names) (ds tool.Diagnostics) {
	secrets := secretsOf(n)
	if len(secrets) == 0 {
		return nil
	}
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
