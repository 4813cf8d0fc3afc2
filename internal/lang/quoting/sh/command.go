package sh

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
)

func (w *walker) stmts(list []*syntax.Stmt, c wordContext) {
	for _, s := range list {
		w.stmt(s, c)
	}
}

func (w *walker) stmt(s *syntax.Stmt, c wordContext) {
	if s == nil {
		return
	}
	sourced := c
	if call, ok := s.Cmd.(*syntax.CallExpr); ok {
		if name := literalWord(firstWord(call)); name == "source" || name == "." {
			sourced = c.refusing("the shell runs what it reads here", "give it a file name")
		}
	}
	for _, r := range s.Redirs {
		w.redirect(r, c, sourced)
	}
	w.command(s.Cmd, c)
}

// redirect walks a redirection. body is the context of the text that is read, which is code if the
// command is source.
func (w *walker) redirect(r *syntax.Redirect, c, body wordContext) {
	if c.feedsArithmetic {
		body.guard = quoting.GuardNumber
	}
	if r.Hdoc == nil {
		if r.Op != syntax.WordHdoc {
			body = c
		}
		if r.Op == syntax.DplOut || r.Op == syntax.DplIn {
			body.guard = quoting.GuardNumber // bash expands the word of >& twice
		}
		body.single = true
		w.word(r.Word, body)
		return
	}
	body.quoted, body.heredoc = true, true
	if quotedDelimiter(r.Word) {
		body = body.refusing("a here-document with a quoted delimiter does not expand variables", "remove the quotes around the delimiter, or "+wayOut)
	}
	w.word(r.Hdoc, body)
}

func quotedDelimiter(word *syntax.Word) bool {
	for _, p := range word.Parts {
		lit, ok := p.(*syntax.Lit)
		if !ok || strings.Contains(lit.Value, `\`) {
			return true
		}
	}
	return false
}

// command walks a command. Placeholders in the names of functions, loop variables and coprocesses are
// not walked; finish reports them.
func (w *walker) command(cmd syntax.Command, c wordContext) {
	switch cmd := cmd.(type) {
	case *syntax.CallExpr:
		w.call(cmd, c)
	case *syntax.BinaryCmd:
		w.stmt(cmd.X, c)
		w.stmt(cmd.Y, c)
	case *syntax.Block:
		w.stmts(cmd.Stmts, c)
	case *syntax.Subshell:
		w.stmts(cmd.Stmts, c)
	case *syntax.IfClause:
		for clause := cmd; clause != nil; clause = clause.Else {
			w.stmts(clause.Cond, c)
			w.stmts(clause.Then, c)
		}
	case *syntax.WhileClause:
		w.stmts(cmd.Cond, c)
		w.stmts(cmd.Do, c)
	case *syntax.ForClause:
		w.loop(cmd.Loop, c)
		w.stmts(cmd.Do, c)
	case *syntax.CaseClause:
		w.word(cmd.Word, c.singleWord())
		for _, item := range cmd.Items {
			for _, p := range item.Patterns {
				w.word(p, c.singleWord())
			}
			w.stmts(item.Stmts, c)
		}
	case *syntax.FuncDecl:
		w.stmt(cmd.Body, c)
	case *syntax.ArithmCmd:
		w.arithmetic(cmd.X, c)
	case *syntax.LetClause:
		for _, x := range cmd.Exprs {
			w.letExpression(x, c)
		}
	case *syntax.TestClause:
		w.test(cmd.X, c)
	case *syntax.DeclClause:
		w.declare(cmd, c)
	case *syntax.TimeClause:
		w.stmt(cmd.Stmt, c)
	case *syntax.CoprocClause:
		w.stmt(cmd.Stmt, c)
	}
}

// singleWord returns the context of exactly one word that is not an argument.
func (c wordContext) singleWord() wordContext {
	c.single, c.argument = true, false
	return c
}

func (w *walker) loop(l syntax.Loop, c wordContext) {
	switch l := l.(type) {
	case *syntax.WordIter:
		for _, item := range l.Items {
			w.word(item, c)
		}
	case *syntax.CStyleLoop:
		w.arithmetic(l.Init, c)
		w.arithmetic(l.Cond, c)
		w.arithmetic(l.Post, c)
	}
}

// letExpression walks an expression of let. let takes words, so numbers are put in quotes; parentheses
// would be shell syntax.
func (w *walker) letExpression(x syntax.ArithmExpr, c wordContext) {
	syntax.Walk(x, func(n syntax.Node) bool {
		if word, ok := n.(*syntax.Word); ok {
			if name := word.Lit(); syntax.ValidName(name) {
				w.arithmeticVars[name] = true
			}
			c := c.singleWord()
			c.guard = quoting.GuardNumber
			w.word(word, c)
			return false
		}
		return true
	})
}

// test walks [[ ... ]].
func (w *walker) test(x syntax.TestExpr, c wordContext) {
	c = c.singleWord()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			c.guard = quoting.GuardNumber
			w.noteArithmeticVars(x.X)
			w.noteArithmeticVars(x.Y)
		}
		w.test(x.X, c)
		w.test(x.Y, c)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			c.guard = quoting.GuardName
		}
		w.test(x.X, c)
	case *syntax.ParenTest:
		w.test(x.X, c)
	case *syntax.Word:
		w.word(x, c)
	}
}

// noteArithmeticVars records the variables with which [[ ... -eq ... ]] calculates.
func (w *walker) noteArithmeticVars(x syntax.TestExpr) {
	word, ok := x.(*syntax.Word)
	if !ok {
		return
	}
	syntax.Walk(word, func(n syntax.Node) bool {
		if e, ok := n.(*syntax.ParamExp); ok && e.Param != nil {
			w.arithmeticVars[e.Param.Value] = true
		}
		return true
	})
}
