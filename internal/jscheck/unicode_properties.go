package jscheck

import (
	"regexp"
	"strings"
	"sync"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"
)

// Of goja's two engines for regular expressions only the one that looks ahead knows
// properties of Unicode (\p{L}); the other takes them for plain letters and matches
// nothing. An empty look ahead chooses the right one, and changes no match. It stands in
// the tree and not in the text, so that places stay where they are.

// properties has every regular expression that names properties of Unicode, written as a
// literal or as two texts for RegExp, read by the engine that knows them.
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

// madeOfTexts is properties for RegExp("...", "u").
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

// keyed are properties in their long form, which the engine knows by their values alone.
var keyed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(\\[pP]\{)(?:Script|sc|Script_Extensions|scx|General_Category|gc)=`)
})

func withProperties(pattern, flags string) string {
	if !strings.ContainsAny(flags, "uv") || !strings.Contains(pattern, `\p{`) && !strings.Contains(pattern, `\P{`) {
		return pattern
	}
	return "(?=)" + keyed().ReplaceAllString(pattern, "$1")
}
