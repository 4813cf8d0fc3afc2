// Package lostfailure finds the commands of a shell script whose failure nobody notices.
//
// # The model
//
// A script has the exit code of its last command, and a pipeline that of its last part. What fails
// before that is lost, unless the shell stops at it (set -e, pipefail), a condition looks at it, or
// the script handles it. A walker follows the options of the shell through the script and reports
// every command that can fail in a way that matters and is lost. The sets of commands that cannot
// fail, filter, or answer with their exit code are lists of names.
package lostfailure

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Failure is a command of a shell script whose failure nobody notices, because the shell has the exit code of a later
// one. It is the Len bytes of the script at Off.
type Failure struct {
	Off, Len int
	Program  string // the program that fails, "" if it is not a single one
	// Pipeline means that the command is a part of a pipeline, which has the exit code of its last command, and Last is its
	// program. Otherwise a later command hides the failure.
	Pipeline bool
	Last     string
	// Errexit means that the script has set -e, which does not look at the beginning of a pipeline.
	Errexit bool
}

// Find returns the commands of a script for Bash or Sh whose failure nobody notices, in the order in which they are
// written. strict is set if flowrun runs the script with set -e and, in bash, with pipefail. Commands that cannot fail in a
// way that matters, that are tested, or whose failure is handled are not among them. A script that cannot be parsed has none.
func Find(script string, sh expr.Shell, strict bool) []Failure {
	text := expr.WithoutPlaceholders(script)
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil
	}
	w := &lossWalker{script: script, errexit: strict, pipefail: strict && sh != expr.Sh}
	w.inspected = strings.Contains(text, "PIPESTATUS")
	w.handled = w.inspected || strings.Contains(text, "$?") || strings.Contains(text, "trap ") && strings.Contains(text, "ERR")
	w.list(file.Stmts, true)
	return w.found
}

// lossWalker goes through a script in the order in which it is written.
type lossWalker struct {
	script            string
	errexit, pipefail bool // the options at this place
	handled           bool // the script looks at exit codes itself, or wants to continue
	inspected         bool // the script looks at the exit codes of pipelines
	found             []Failure
}

// list looks at commands one after the other. counts reports whether the exit code of the last one is noticed.
func (w *lossWalker) list(list []*syntax.Stmt, counts bool) {
	for i, s := range list {
		w.statement(s, counts && i == len(list)-1, false)
	}
}

// statement looks at one command. tested means that a condition looks at its exit code.
func (w *lossWalker) statement(s *syntax.Stmt, counts, tested bool) {
	tested = tested || s.Negated || s.Background
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		w.call(s, c, counts, tested)
	case *syntax.BinaryCmd:
		w.binary(s, c, counts, tested)
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.statement(c.Stmt, counts, tested)
		}
	case *syntax.FuncDecl:
		w.statement(c.Body, true, false)
	default:
		w.compound(s.Cmd, counts || tested)
	}
}

// compound looks at the commands inside a compound command. In a loop, the next round hides the failures of a round.
func (w *lossWalker) compound(c syntax.Command, counts bool) {
	switch c := c.(type) {
	case *syntax.Block:
		w.list(c.Stmts, counts)
	case *syntax.Subshell:
		errexit, pipefail, handled := w.errexit, w.pipefail, w.handled
		w.list(c.Stmts, counts)
		w.errexit, w.pipefail, w.handled = errexit, pipefail, handled
	case *syntax.IfClause:
		for ; c != nil; c = c.Else {
			w.list(c.Then, counts)
		}
	case *syntax.CaseClause:
		for _, item := range c.Items {
			w.list(item.Stmts, counts)
		}
	case *syntax.WhileClause:
		w.list(c.Do, false)
	case *syntax.ForClause:
		w.list(c.Do, false)
	}
}

func (w *lossWalker) binary(s *syntax.Stmt, c *syntax.BinaryCmd, counts, tested bool) {
	switch c.Op {
	case syntax.OrStmt:
		w.statement(c.X, counts, true)
		w.statement(c.Y, counts, tested)
	case syntax.AndStmt:
		w.statement(c.X, counts, tested || w.isTest(c.X))
		w.statement(c.Y, counts, tested)
	default:
		parts := pipeline(s)
		if !tested {
			w.pipe(parts)
		}
		for _, p := range parts[:len(parts)-1] {
			w.compound(p.Cmd, true)
		}
		if last := parts[len(parts)-1]; !w.commandOf(last).isFilter() {
			w.statement(last, counts, tested)
		}
	}
}

// pipeline returns the commands of a pipeline.
func pipeline(s *syntax.Stmt) []*syntax.Stmt {
	if c, ok := s.Cmd.(*syntax.BinaryCmd); ok && (c.Op == syntax.Pipe || c.Op == syntax.PipeAll) {
		return append(pipeline(c.X), pipeline(c.Y)...)
	}
	return []*syntax.Stmt{s}
}

// pipe reports the first command of a pipeline, before the last one, that can fail.
func (w *lossWalker) pipe(parts []*syntax.Stmt) {
	last := w.commandOf(parts[len(parts)-1])
	if w.pipefail || w.inspected || last.needsInput() {
		return
	}
	for _, p := range parts[1:] {
		if w.commandOf(p).stopsReading() { // with pipefail, the commands before it could fail because of that
			return
		}
	}
	for i, p := range parts[:len(parts)-1] {
		if w.partFails(p, i > 0) {
			w.found = append(w.found, w.lost(p))
			at := &w.found[len(w.found)-1]
			at.Pipeline, at.Last = true, last.name
			return
		}
	}
}

// partFails reports whether a part of a pipeline can fail. filters means that another part writes its input.
func (w *lossWalker) partFails(s *syntax.Stmt, filters bool) bool {
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return w.commandOf(s).canFail(filters)
	case *syntax.BinaryCmd:
		return c.Op == syntax.AndStmt && w.partFails(c.X, filters) || w.partFails(c.Y, filters)
	case *syntax.Block:
		return len(c.Stmts) > 0 && w.partFails(c.Stmts[len(c.Stmts)-1], filters)
	case *syntax.Subshell:
		return len(c.Stmts) > 0 && w.partFails(c.Stmts[len(c.Stmts)-1], filters)
	}
	return false
}

func (w *lossWalker) call(s *syntax.Stmt, c *syntax.CallExpr, counts, tested bool) {
	if len(c.Args) == 0 {
		for _, a := range c.Assigns {
			w.assigned(a.Value, counts, tested)
		}
		return
	}
	command := w.commandOf(s)
	if command.name == "set" {
		w.set(command.words[1:])
	}
	if !counts && !tested && !w.errexit && !w.handled && command.canFail(false) && !command.answers() {
		w.found = append(w.found, w.lost(s))
	}
}

// assigned looks at the commands whose output a variable gets. Their exit code is that of the assignment.
func (w *lossWalker) assigned(value *syntax.Word, counts, tested bool) {
	if value == nil {
		return
	}
	parts := value.Parts
	if len(parts) == 1 {
		if q, ok := parts[0].(*syntax.DblQuoted); ok {
			parts = q.Parts
		}
	}
	for _, p := range parts {
		if sub, ok := p.(*syntax.CmdSubst); ok && len(sub.Stmts) == 1 {
			w.statement(sub.Stmts[0], counts, tested)
		}
	}
}

// set follows the options of the shell. Who turns off -e wants to continue.
func (w *lossWalker) set(words []string) {
	for i, word := range words {
		on := strings.HasPrefix(word, "-")
		switch {
		case on && strings.Contains(word, "e") && !strings.HasPrefix(word, "--"), i > 0 && strings.HasSuffix(words[i-1], "o") && word == "errexit":
			w.errexit, w.handled = true, false
		case strings.HasPrefix(word, "+") && strings.Contains(word, "e"):
			w.errexit, w.handled = false, true
		case i > 0 && word == "pipefail":
			w.pipefail = words[i-1][0] == '-'
		}
	}
}

func (w *lossWalker) lost(s *syntax.Stmt) Failure {
	from, to := int(s.Pos().Offset()), int(s.Cmd.End().Offset())
	return Failure{Off: from, Len: to - from, Program: w.commandOf(s).name, Errexit: w.errexit}
}
