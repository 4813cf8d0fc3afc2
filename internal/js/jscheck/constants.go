package jscheck

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// Constants returns the texts that an Expression can return exactly as its author wrote them:
// the expression itself, or branches of ?:, ||, && and ??. A text in another place, such as an
// argument, does not count, because the result may then come from the variables.
func (t *Tree) Constants() []string {
	if s, ok := t.body.Body.List[0].(*ast.ReturnStatement); ok && t.Source.Form == Expression {
		return constants(nil, s.Argument)
	}
	return nil
}

// constants appends the texts that the expression can return.
func constants(list []string, e ast.Expression) []string {
	switch e := e.(type) {
	case *ast.StringLiteral:
		return append(list, e.Value.String())
	case *ast.TemplateLiteral:
		if e.Tag == nil && len(e.Expressions) == 0 {
			return append(list, e.Elements[0].Parsed.String())
		}
	case *ast.ConditionalExpression:
		return constants(constants(list, e.Consequent), e.Alternate)
	case *ast.BinaryExpression:
		switch e.Operator {
		case token.LOGICAL_AND, token.LOGICAL_OR, token.COALESCE:
			return constants(constants(list, e.Left), e.Right)
		}
	case *ast.SequenceExpression:
		return constants(list, e.Sequence[len(e.Sequence)-1])
	}
	return list
}
