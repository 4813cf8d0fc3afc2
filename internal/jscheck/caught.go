package jscheck

import "github.com/dop251/goja/ast"

// RewordFunction is the global function that a catch clause calls first with what it caught, so
// that the script sees messages in the wording of Node.js. It is added to the tree and not to the
// text, so positions stay the same.
const RewordFunction = "__flowrunReword"

// rewordCaughtErrors adds the call to each catch clause whose parameter is a name.
func (t *Tree) rewordCaughtErrors() {
	visit(t.body.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CatchStatement)
		if !ok {
			return true
		}
		if name, ok := c.Parameter.(*ast.Identifier); ok {
			caught := &ast.Identifier{Name: name.Name, Idx: name.Idx}
			call := &ast.CallExpression{Callee: &ast.Identifier{Name: RewordFunction, Idx: name.Idx}, LeftParenthesis: name.Idx, ArgumentList: []ast.Expression{caught}}
			c.Body.List = append([]ast.Statement{&ast.ExpressionStatement{Expression: call}}, c.Body.List...)
		}
		return true
	})
}
