package jscheck

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// addAllDeclared calls add with every name that n or a node below it declares or assigns.
func addAllDeclared(n ast.Node, add func(string)) {
	visit(n, func(n ast.Node) bool {
		addDeclared(n, add)
		return true
	})
}

// addDeclared calls add with the names that the node itself declares or assigns.
func addDeclared(n ast.Node, add func(string)) {
	switch n := n.(type) {
	case *ast.Binding:
		addPatternNames(n.Target, add)
	case *ast.ForDeclaration:
		addPatternNames(n.Target, add)
	case *ast.ForIntoExpression:
		addPatternNames(n.Expression, add)
	case *ast.AssignExpression:
		addPatternNames(n.Left, add)
	case *ast.CatchStatement:
		addPatternNames(n.Parameter, add)
	case *ast.ParameterList:
		addPatternNames(n.Rest, add)
	case *ast.FunctionLiteral:
		addName(n.Name, add)
	case *ast.ClassLiteral:
		addName(n.Name, add)
	}
}

func addName(id *ast.Identifier, add func(string)) {
	if id != nil {
		add(id.Name.String())
	}
}

// addPatternNames calls add with the names in a pattern.
func addPatternNames(n ast.Expression, add func(string)) {
	switch n := n.(type) {
	case *ast.Identifier:
		addName(n, add)
	case *ast.ArrayPattern:
		for _, e := range n.Elements {
			addPatternNames(e, add)
		}
		addPatternNames(n.Rest, add)
	case *ast.ObjectPattern:
		for _, p := range n.Properties {
			switch p := p.(type) {
			case *ast.PropertyShort:
				addName(&p.Name, add)
			case *ast.PropertyKeyed:
				addPatternNames(p.Value, add)
			}
		}
		addPatternNames(n.Rest, add)
	case *ast.AssignExpression: // a target with a default
		addPatternNames(n.Left, add)
	case *ast.Binding:
		addPatternNames(n.Target, add)
	}
}

// addTypeofNames calls add with the names that are operands of typeof.
func addTypeofNames(n ast.Node, add func(string)) {
	visit(n, func(n ast.Node) bool {
		if u, ok := n.(*ast.UnaryExpression); ok && u.Operator == token.TYPEOF {
			addPatternNames(u.Operand, add)
		}
		return true
	})
}

// calledIdentifiers returns the identifiers that are called, or constructed with new.
func calledIdentifiers(n ast.Node) map[*ast.Identifier]bool {
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
