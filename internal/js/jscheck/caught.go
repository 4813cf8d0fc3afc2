package jscheck

import (
	"github.com/dop251/goja/ast"
)

// RewordFunction is the global function that is called first with what a script catches, so that
// the script sees messages in the wording of Node.js. The calls are added to the tree and not to
// the text, so positions stay the same.
const RewordFunction = "__flowrunReword"

// rewordCaughtErrors adds the call to each catch clause, and to each function that is written as
// the argument of a method catch, if its parameter is a name.
func (t *Tree) rewordCaughtErrors() {
	visit(t.body.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CatchStatement:
			if call := rewordCall(n.Parameter); call != nil {
				prepend(n.Body, call)
			}
		case *ast.CallExpression:
			if callee, ok := n.Callee.(*ast.DotExpression); ok && callee.Identifier.Name == "catch" && len(n.ArgumentList) == 1 {
				rewordInHandler(n.ArgumentList[0])
			}
		}
		return true
	})
}

func rewordInHandler(handler ast.Expression) {
	switch f := handler.(type) {
	case *ast.FunctionLiteral:
		if call := rewordOfFirst(f.ParameterList); call != nil {
			prepend(f.Body, call)
		}
	case *ast.ArrowFunctionLiteral:
		call := rewordOfFirst(f.ParameterList)
		if call == nil {
			return
		}
		switch body := f.Body.(type) {
		case *ast.BlockStatement:
			prepend(body, call)
		case *ast.ExpressionBody:
			body.Expression = &ast.SequenceExpression{Sequence: []ast.Expression{call, body.Expression}}
		}
	}
}

// rewordOfFirst returns the call for the first parameter of a function, or nil.
func rewordOfFirst(list *ast.ParameterList) ast.Expression {
	if list == nil || len(list.List) == 0 || list.List[0].Initializer != nil {
		return nil
	}
	return rewordCall(list.List[0].Target)
}

// rewordCall returns the call for a parameter, or nil if the parameter is not a name.
func rewordCall(parameter ast.BindingTarget) ast.Expression {
	name, ok := parameter.(*ast.Identifier)
	if !ok {
		return nil
	}
	at := name.Idx
	return &ast.CallExpression{Callee: &ast.Identifier{Name: RewordFunction, Idx: at}, LeftParenthesis: at, RightParenthesis: at,
		ArgumentList: []ast.Expression{&ast.Identifier{Name: name.Name, Idx: at}}}
}

func prepend(body *ast.BlockStatement, e ast.Expression) {
	body.List = append([]ast.Statement{&ast.ExpressionStatement{Expression: e}}, body.List...)
}
