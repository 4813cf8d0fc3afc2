package expr

import (
	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/quoting/sh"
)

// place finds out where each placeholder of a script is, and rewrites the text around it where that is
// necessary. The readers of the languages know no references.
func (t *Template) place(src string) (problems []Problem) {
	if len(src) > sh.MaxSize {
		return []Problem{problemf(codeShell, 0, 0, "move parts into a script file that takes arguments",
			"the script has placeholders and is longer than %d KiB", sh.MaxSize>>10)}
	}
	script := make([]quoting.Piece, len(t.pieces))
	written := map[*quoting.Placeholder]*placeholder{}
	for i, p := range t.pieces {
		script[i].Text = p.text
		if ph := p.placeholder; ph != nil {
			ph.at = quoting.Placeholder{Off: ph.off, Written: src[ph.off : ph.off+ph.len], Name: ph.name(),
				Raw: ph.ref.Raw, MayHoldText: ph.mayHoldText(), Untrusted: ph.untrusted()}
			script[i].Placeholder, written[&ph.at] = &ph.at, ph
		}
	}
	var found []quoting.Problem
	switch t.shell {
	case Cmd:
		script, found = quoting.Cmd(src, script)
	case PowerShell:
		script, found = quoting.PowerShell(src, script)
	case Python:
		found = quoting.Python(src, script)
	default:
		var bad *sh.SyntaxError
		if found, bad = sh.Read(src, t.shell == Sh, script); bad != nil {
			return []Problem{t.unreadable(src, bad)}
		}
	}
	t.script = nil
	for _, p := range script {
		t.script = append(t.script, piece{text: p.Text, placeholder: written[p.Placeholder]})
	}
	for _, p := range found {
		problems = append(problems, placeProblem(p))
	}
	return problems
}

// placeProblem converts a problem about the place of a value.
func placeProblem(p quoting.Problem) Problem {
	code := [...]string{quoting.Misplaced: codePosition, quoting.UsedAsCode: CodeUsedAsCode, quoting.Calculated: codeArithmetic}[p.Kind]
	return Problem{Code: code, Off: p.Placeholder.Off, Len: len(p.Placeholder.Written), Hint: p.Hint, Message: p.Message, Warning: p.Kind != quoting.Misplaced}
}

// unreadable converts a syntax error of a script with placeholders.
func (t *Template) unreadable(src string, bad *sh.SyntaxError) Problem {
	p := syntaxProblem(src, bad)
	p.Warning, p.Hint = false, "correct the script; to keep braces as text, write {{X}}"
	if t.shell == Sh {
		p.Hint += "; if it is a script for bash, use the key bash"
	}
	return p
}

// SyntaxProblems returns the syntax error of a script for bash or sh without placeholders, which ParseTemplate does not
// parse. src is the text that was parsed. There is none if the shell may accept the script. An unclosed here-document
// is a warning, because the shell runs it.
func (t *Template) SyntaxProblems(src string) []Problem {
	if !t.static || t.shell != Bash && t.shell != Sh || len(src) > sh.MaxSize {
		return nil
	}
	pieces := make([]quoting.Piece, len(t.pieces))
	for i, p := range t.pieces {
		pieces[i].Text = p.text
	}
	if bad := sh.Check(src, t.shell == Sh, pieces); bad != nil {
		return []Problem{syntaxProblem(src, bad)}
	}
	return nil
}

func syntaxProblem(src string, bad *sh.SyntaxError) Problem {
	return Problem{Code: codeShell, Off: bad.Off, Len: min(1, len(src)-bad.Off), Message: bad.Message, Warning: bad.Runs}
}
