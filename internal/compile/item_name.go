package compile

import (
	"fmt"
	"regexp"
	"sync"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// itemHole is {item}, or a field of it, where it could be a reference.
var itemHole = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(^|[^$\{])(\{item(\.[A-Za-z0-9_.\[\]-]+)?\})`) })

// itemName is what the item of the loop around a text is called where as: gave it a
// name of its own, else "".
func (n names) itemName() string {
	for at := &n; at != nil; at = at.around {
		switch {
		case at.locals["item"]:
			return ""
		case at.locals["index"]:
			return at.as
		}
	}
	return ""
}

// lintItem warns of {item} in a step whose loop calls the item otherwise: it would
// stay as text.
func (c *compiler) lintItem(at tool.Text, path string, n expr.Names) {
	known, ok := n.(interface{ itemName() string })
	if !ok || known.itemName() == "" || n.Symbol("item").Class != expr.Unknown {
		return
	}
	for _, m := range itemHole().FindAllStringSubmatchIndex(at.S, -1) {
		hole := at.S[m[4]:m[5]]
		c.report(tool.Diagnostic{Code: "item-renamed", Severity: tool.Warning, Pos: at.At(m[4]), Len: len(hole), Path: path,
			Message: fmt.Sprintf("%s is only text here: the item is named %s (as:)", hole, known.itemName()),
			Hint:    fmt.Sprintf("write {%s%s", known.itemName(), hole[len("{item"):])})
	}
}
