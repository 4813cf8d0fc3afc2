package jscheck

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// goja has two engines for regular expressions. Only the one that supports lookahead knows
// Unicode properties (\p{L}); the other one reads them as plain letters and matches nothing. An
// empty lookahead selects the right engine and changes no match. It is added to the tree and not
// to the text, so positions stay the same.

// properties makes goja use the engine that knows Unicode properties for every regular
// expression that contains one, written as a literal or as two strings for RegExp.
func (t *Tree) properties() {
	visit(t.body.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RegExpLiteral:
			n.Pattern = withProperties(n.Pattern, n.Flags)
		case *ast.NewExpression:
			madeOfTexts(n.Callee, n.ArgumentList)
		case *ast.CallExpression:
			madeOfTexts(n.Callee, n.ArgumentList)
		}
		return true
	})
}

// madeOfTexts does what properties does for RegExp("...", "u").
func madeOfTexts(callee ast.Expression, args []ast.Expression) {
	name, ok := callee.(*ast.Identifier)
	if !ok || name.Name != "RegExp" || len(args) != 2 {
		return
	}
	pattern, ok := args[0].(*ast.StringLiteral)
	flags, also := args[1].(*ast.StringLiteral)
	if ok && also {
		pattern.Value = unistring.NewFromString(withProperties(pattern.Value.String(), flags.Value.String()))
	}
}

// keyed matches properties in the long form. The engine knows only their values, so the key is
// removed.
var keyed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\\[pP]\{)(?:Script|sc|Script_Extensions|scx|General_Category|gc)=`)
})

func withProperties(pattern, flags string) string {
	if !strings.ContainsAny(flags, "uv") || !strings.Contains(pattern, `\p{`) && !strings.Contains(pattern, `\P{`) {
		return pattern
	}
	return "(?=)" + keyed().ReplaceAllString(pattern, "$1")
}
