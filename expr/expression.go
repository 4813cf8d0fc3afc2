package expr

import (
	"errors"

	"github.com/expr-lang/expr/vm"
)

// Expression is a parsed expression of any value, in the language of conditions:
// 1..5, or filter({hosts.json}, .up).
type Expression struct{ cond *Condition }

// maxExpressionItems bounds how many elements an expression may make, in expr-lang's
// count.
const maxExpressionItems = 2_000_000

// ParseExpression parses an expression and checks its names. With an error among
// the problems Value fails.
func ParseExpression(src string, names Names) (*Expression, []Problem) {
	c, ps := parseCondition(src, names, condValue)
	if c.uses != UsesNone {
		ps = append(ps, problemf(CodeSyntax, 0, len(src), "use it in run-condition", "success(), failure(), always() and cancelled() are for conditions"))
	}
	return &Expression{c}, ps
}

// Refs returns the references, in the order they are written.
func (e *Expression) Refs() []Ref { return e.cond.refs }

// Value evaluates the expression.
func (e *Expression) Value(sc Scope) (any, error) {
	if e.cond.program == nil {
		return nil, errors.New("cannot evaluate an invalid expression")
	}
	machine := vm.VM{MemoryBudget: maxExpressionItems}
	out, err := machine.Run(e.cond.program, &evaluation{cond: e.cond, scope: sc})
	if err != nil {
		return nil, unwrapExprLangError(err)
	}
	return out, nil
}
