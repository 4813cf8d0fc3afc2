package expr

import "github.com/flowrun/flowrun/internal/lang/quoting"

// placeOther is place for PowerShell, cmd and Python. Their readers know no references.
func (t *Template) placeOther(src string) (problems []Problem) {
	script := make([]quoting.Piece, len(t.pieces))
	written := map[*quoting.Placeholder]*placeholder{}
	for i, p := range t.pieces {
		script[i].Text = p.text
		if ph := p.placeholder; ph != nil {
			script[i].Placeholder = &quoting.Placeholder{Written: src[ph.off : ph.off+ph.len], Name: ph.name(),
				Raw: ph.ref.Raw, MayHoldText: ph.mayHoldText()}
			written[script[i].Placeholder] = ph
		}
	}
	var found []quoting.Problem
	switch t.shell {
	case Cmd:
		script, found = quoting.Cmd(src, script)
	case PowerShell:
		script, found = quoting.PowerShell(script)
	default:
		found = quoting.Python(src, script)
	}
	for p, ph := range written {
		ph.pos = position{Place: p.Place, written: p.Written}
		if p.Place.Number {
			ph.pos.guard = guardNumber
		}
	}
	t.script = nil
	for _, p := range script {
		t.script = append(t.script, piece{text: p.Text, placeholder: written[p.Placeholder]})
	}
	for _, p := range found {
		ph, code := written[p.Placeholder], codePosition
		if p.UsedAsCode {
			code = CodeUsedAsCode
		}
		problems = append(problems, Problem{Code: code, Off: ph.off, Len: ph.len, Hint: p.Hint, Message: p.Message, Warning: p.UsedAsCode})
	}
	if t.shell == Python {
		return problems
	}
	return append(problems, lintInterpreters(src, t.pieces)...)
}
