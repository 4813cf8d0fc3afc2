package jscheck

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// names calls add with every name that n or a node below it declares or assigns.
func names(n ast.Node, add func(string)) {
	visit(n, func(n ast.Node) bool {
		declares(n, add)
		return true
	})
}

// declares calls add with the names that the node itself declares or assigns.
func declares(n ast.Node, add func(string)) {
	switch n := n.(type) {
	case *ast.Binding:
		targets(n.Target, add)
	case *ast.ForDeclaration:
		targets(n.Target, add)
	case *ast.ForIntoExpression:
		targets(n.Expression, add)
	case *ast.AssignExpression:
		targets(n.Left, add)
	case *ast.CatchStatement:
		targets(n.Parameter, add)
	case *ast.ParameterList:
		targets(n.Rest, add)
	case *ast.FunctionLiteral:
		nameOf(n.Name, add)
	case *ast.ClassLiteral:
		nameOf(n.Name, add)
	}
}

func nameOf(id *ast.Identifier, add func(string)) {
	if id != nil {
		add(id.Name.String())
	}
}

// targets calls add with the names in a pattern.
func targets(n ast.Expression, add func(string)) {
	switch n := n.(type) {
	case *ast.Identifier:
		nameOf(n, add)
	case *ast.ArrayPattern:
		for _, e := range n.Elements {
			targets(e, add)
		}
		targets(n.Rest, add)
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				nameOf(&p.Name, add)
			case *ast.PropertyKeyed:
				targets(p.Value, add)
			}
		}
		targets(n.Rest, add)
	case *ast.AssignExpression: // a target with a default
		targets(n.Left, add)
	case *ast.Binding:
		targets(n.Target, add)
	}
}

// probed calls add with the names that are operands of typeof.
func probed(n ast.Node, add func(string)) {
	visit(n, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpression); ok && u.Operator == token.TYPEOF {
			targets(u.Operand, add)
		}
		return true
	})
}

// called returns the identifiers that are called, or constructed with new.
func called(n ast.Node) map[*ast.Identifier]bool {
	found := map[*ast.Identifier]bool{}
	visit(n, func(n ast.Node) bool {
		var callee ast.Expression
		switch n := n.(type) {
		case *ast.CallExpression:
			callee = n.Callee
		case *ast.NewExpression:
			callee = n.Callee
		}
		if id, ok := callee.(*ast.Identifier); ok {
			found[id] = true
		}
		return true
	})
	return found
}
