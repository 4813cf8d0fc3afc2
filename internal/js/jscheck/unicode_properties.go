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

// useUnicodeEngine makes goja use the engine that knows Unicode properties for every regular
// expression that contains one, written as a literal or as two strings for RegExp.
func (t *Tree) useUnicodeEngine() {
	visit(t.body.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RegExpLiteral:
			n.Pattern = unicodePattern(n.Pattern, n.Flags)
		case *ast.NewExpression:
			useUnicodeEngineInCall(n.Callee, n.ArgumentList)
		case *ast.CallExpression:
			useUnicodeEngineInCall(n.Callee, n.ArgumentList)
		}
		return true
	})
}

// useUnicodeEngineInCall does what useUnicodeEngine does for RegExp("...", "u").
func useUnicodeEngineInCall(callee ast.Expression, args []ast.Expression) {
	name, ok := callee.(*ast.Identifier)
	if !ok || name.Name != "RegExp" || len(args) != 2 {
		return
	}
	pattern, ok := args[0].(*ast.StringLiteral)
	flags, also := args[1].(*ast.StringLiteral)
	if ok && also {
		pattern.Value = unistring.NewFromString(unicodePattern(pattern.Value.String(), flags.Value.String()))
	}
}

// propertyKey matches properties in the long form. The engine knows only their values, so the
// key is removed.
var propertyKey = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\\[pP]\{)(?:Script|sc|Script_Extensions|scx|General_Category|gc)=`)
})

func unicodePattern(pattern, flags string) string {
	if !strings.ContainsAny(flags, "uv") || !strings.Contains(pattern, `\p{`) && !strings.Contains(pattern, `\P{`) {
		return pattern
	}
	return "(?=)" + propertyKey().ReplaceAllString(pattern, "$1")
}
