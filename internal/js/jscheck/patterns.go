package jscheck

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/unistring"

	"github.com/flowrun/flowrun/internal/js/jsregexp"
)

// PatternFunction is the global function that makes a regular expression which goja cannot run as it is written: RegExp,
// even if the script has another value of that name.
const PatternFunction = "__flowrunRegExp"

// replacePatterns replaces literals that goja cannot run by calls of PatternFunction, so that they are like those that a
// script makes while it runs. The tree is changed and not the text, so positions stay the same.
func (t *Tree) replacePatterns() (some bool, wrong *Problem) {
	replace(t.body.Body, func(e ast.Expression) ast.Expression {
		literal, ok := e.(*ast.RegExpLiteral)
		if !ok || !jsregexp.Needed(literal.Pattern, literal.Flags) {
			return nil
		}
		if _, _, err := jsregexp.Translate(literal.Pattern, literal.Flags); err != nil && wrong == nil {
			wrong = &Problem{Off: t.Source.offset(literal.Idx), Message: err.Error()}
		}
		some = true
		at := literal.Idx
		text := func(s string) ast.Expression {
			return &ast.StringLiteral{Idx: at, Literal: s, Value: unistring.NewFromString(s)}
		}
		return &ast.NewExpression{New: at, Callee: &ast.Identifier{Name: PatternFunction, Idx: at},
			LeftParenthesis: at, RightParenthesis: at, ArgumentList: []ast.Expression{text(literal.Pattern), text(literal.Flags)}}
	})
	return some, wrong
}
