package hooks

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// flow follows a function's statements from its beginning. It says whether a return can
// be reached, as far as that can be told without running anything (S0-070).
type flow struct{ returns bool }

// list says whether the end of the statements can be reached.
func (f *flow) list(statements []ast.Statement) bool {
	for _, s := range statements {
		if !f.statement(s) {
			return false
		}
	}
	return true
}

// statement says whether what follows the statement can be reached.
func (f *flow) statement(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.ReturnStatement:
		f.returns = true
		return false
	case *ast.ThrowStatement, *ast.BranchStatement:
		return false
	case *ast.BlockStatement:
		return f.list(s.List)
	case *ast.IfStatement:
		then := f.statement(s.Consequent)
		return s.Alternate == nil || f.statement(s.Alternate) || then
	case *ast.WhileStatement:
		f.statement(s.Body)
		return !always(s.Test) || leaves(s.Body)
	case *ast.DoWhileStatement:
		end := f.statement(s.Body)
		return end && !always(s.Test) || leaves(s.Body) || continues(s.Body)
	case *ast.ForStatement:
		f.statement(s.Body)
		return s.Test != nil && !always(s.Test) || leaves(s.Body)
	case *ast.ForInStatement:
		f.statement(s.Body)
	case *ast.ForOfStatement:
		f.statement(s.Body)
	case *ast.LabelledStatement:
		return f.statement(s.Statement) || leaves(s.Statement)
	case *ast.WithStatement:
		return f.statement(s.Body)
	case *ast.SwitchStatement:
		return f.cases(s)
	case *ast.TryStatement:
		return f.try(s)
	}
	return true
}

func (f *flow) cases(s *ast.SwitchStatement) bool {
	end := true
	for _, c := range s.Body {
		end = f.list(c.Consequent)
	}
	return end || s.Default < 0 || leaves(s)
}

func (f *flow) try(s *ast.TryStatement) bool {
	end := f.list(s.Body.List)
	if s.Catch != nil {
		end = f.list(s.Catch.Body.List) || end
	}
	return (s.Finally == nil || f.list(s.Finally.List)) && end
}

// always says whether a condition is written as one that holds always.
func always(test ast.Expression) bool {
	switch t := test.(type) {
	case *ast.BooleanLiteral:
		return t.Value
	case *ast.NumberLiteral:
		n, ok := t.Value.(int64)
		return ok && n != 0
	}
	return false
}

// leaves says whether there is a break in a loop's body, or in a switch, that may lead
// out of it. One that leaves an inner loop counts too: nothing is refused for it.
func leaves(n ast.Node) bool { return branches(n, token.BREAK) }

func continues(n ast.Node) bool { return branches(n, token.CONTINUE) }

func branches(n ast.Node, kind token.Token) (found bool) {
	visit(n, func(n ast.Node) bool {
		b, ok := n.(*ast.BranchStatement)
		found = found || ok && b.Token == kind
		return !found && !isFunction(n)
	})
	return found
}
