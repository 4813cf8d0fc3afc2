package texts

import (
	"fmt"
	"regexp"
	"sync"

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
