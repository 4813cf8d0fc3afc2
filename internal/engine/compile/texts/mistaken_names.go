package texts

import (
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// itemPlaceholder matches {item} or a field of it, where it could be a reference.
var itemPlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^$\{])(\{item(\.[A-Za-z0-9_.\[\]-]+)?\})`) })

// itemName returns the name that as: gives to the item of the innermost loop, or "" if the item has its default name.
func (n Names) itemName() string {
	for at := &n; at != nil; at = at.outer {
		switch {
		case at.locals["item"]:
			return ""
		case at.locals["index"]:
			return at.itemAlias
		}
	}
	return ""
}

// isRenamedItem reports whether a problem is one with {item} in a loop whose item has another name.
func isRenamedItem(text string, p expr.Problem, n Scope) bool {
	return p.Code == expr.CodeUndeclared && n.itemName() != "" && RootOf(text[p.Off:p.Off+p.Len]) == "item"
}

// checkItem warns about {item} in a loop whose item has another name: it would stay as text.
func checkItem(at tool.Text, path string, n Scope) (ds tool.Diagnostics) {
	if n.itemName() == "" || n.Symbol("item").Class != expr.Unknown {
		return nil
	}
	for _, m := range itemPlaceholder().FindAllStringSubmatchIndex(at.S, -1) {
		placeholder := at.S[m[4]:m[5]]
		ds = append(ds, tool.Diagnostic{Code: "item-renamed", Severity: tool.Warning, Pos: at.At(m[4]), Len: len(placeholder), Path: path,
			Message: fmt.Sprintf("%s is only text here: the item is named %s (as:)", placeholder, n.itemName()),
			Hint:    fmt.Sprintf("write {%s%s", n.itemName(), placeholder[len("{item"):])})
	}
	return ds
}

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
	for _, r := range t.Refs() {
		if r.Class != expr.Env || len(r.Path) == 0 {
			continue
		}
		if near := diagnostic.Misspelt(r.Path[0].Field, diagnostic.NewWords(slices.Values(n.secrets()))); len(near) > 0 {
			ds = append(ds, tool.Diagnostic{Code: "unknown-secret", Severity: tool.Warning, Pos: at.At(r.Off), Len: r.Len, Path: path,
				Message: fmt.Sprintf("%s is not a secret of the tool, but %s is", r, near[0]), Hint: fmt.Sprintf("write {env.%s}", near[0])})
		}
	}
	return ds
}
