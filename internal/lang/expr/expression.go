package expr

import (
	"errors"

	"github.com/expr-lang/expr/vm"
)

// Expression is a parsed expression with a result of any type, in the language of conditions, such
// as 1..5 or filter({hosts.json}, .up). It does not change. Safe for concurrent use.
type Expression struct{ cond *Condition }

// maxExpressionItems is the maximum number of elements that an expression may create, as expr-lang
// counts them.
const maxExpressionItems = 2_000_000

// ParseExpression parses an expression and checks its names. If there is an error among the
// problems, Value of the Expression fails.
func ParseExpression(src string, names Names) (*Expression, []Problem) {
	c, ps := parseCondition(src, names, condValue)
	if c.uses != UsesNone {
		ps = append(ps, problemf(codeSyntax, 0, len(src), "use it in run-condition", "success(), failure(), always() and cancelled() can be used in conditions only"))
	}
	return &Expression{c}, ps
}

// Refs returns the references in the order in which they are written.
func (e *Expression) Refs() []Ref { return e.cond.refs }

// Value evaluates the expression. It fails if a reference has no value yet (ErrUnknown).
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
