package jscheck

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// flow follows the statements of a function and finds out whether a return can be reached. It
// visits each statement once and evaluates no conditions except literal ones.
type flow struct {
	returns   bool
	breaks    int // break statements that can be reached, whichever statement they leave
	continues int // continue statements that can be reached
}

// list reports whether the end of the statements can be reached.
func (f *flow) list(statements []ast.Statement) bool {
	for _, s := range statements {
		if !f.statement(s) {
			return false
		}
	}
	return true
}

// statement reports whether the code after the statement can be reached.
func (f *flow) statement(s ast.Statement) bool {
	switch s := s.(type) {
	case *ast.ReturnStatement:
		f.returns = true
		return false
	case *ast.ThrowStatement:
		return false
	case *ast.BranchStatement:
		if s.Token == token.BREAK {
			f.breaks++
		} else {
			f.continues++
		}
		return false
	case *ast.BlockStatement:
		return f.list(s.List)
	case *ast.IfStatement:
		then := f.statement(s.Consequent)
		return s.Alternate == nil || f.statement(s.Alternate) || then
	case *ast.WhileStatement:
		return f.leavesLoop(s.Body) || !alwaysTrue(s.Test)
	case *ast.DoWhileStatement:
		breaks, goesOn := f.breaks, f.continues
		end := f.statement(s.Body)
		return end && !alwaysTrue(s.Test) || f.breaks > breaks || f.continues > goesOn
	case *ast.ForStatement:
		return f.leavesLoop(s.Body) || s.Test != nil && !alwaysTrue(s.Test)
	case *ast.ForInStatement:
		f.statement(s.Body)
	case *ast.ForOfStatement:
		f.statement(s.Body)
	case *ast.LabelledStatement:
		breaks := f.breaks
		return f.statement(s.Statement) || f.breaks > breaks
	case *ast.WithStatement:
		return f.statement(s.Body)
	case *ast.SwitchStatement:
		return f.cases(s)
	case *ast.TryStatement:
		return f.try(s)
	}
	return true
}

// leavesLoop reports whether a break in a loop's body may leave the loop. A break that leaves an
// inner loop counts too, which only means that one mistake fewer is reported.
func (f *flow) leavesLoop(body ast.Statement) bool {
	breaks := f.breaks
	f.statement(body)
	return f.breaks > breaks
}

func (f *flow) cases(s *ast.SwitchStatement) bool {
	end, breaks := true, f.breaks
	for _, c := range s.Body {
		end = f.list(c.Consequent)
	}
	return end || s.Default < 0 || f.breaks > breaks
}

func (f *flow) try(s *ast.TryStatement) bool {
	end := f.list(s.Body.List)
	if s.Catch != nil {
		end = f.list(s.Catch.Body.List) || end
	}
	return (s.Finally == nil || f.list(s.Finally.List)) && end
}

// alwaysTrue reports whether a condition is a literal that is always true.
func alwaysTrue(test ast.Expression) bool {
	switch t := test.(type) {
	case *ast.BooleanLiteral:
		return t.Value
	case *ast.NumberLiteral:
		n, ok := t.Value.(int64)
		return ok && n != 0
	}
	return false
}
