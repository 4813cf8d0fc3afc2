package expr

// placeOther is place for PowerShell, cmd and Python. Their readers know no references.
func (t *Template) placeOther(src string) (problems []Problem) {
	script := make([]scriptPiece, len(t.pieces))
	written := map[*scriptPlaceholder]*placeholder{}
	for i, p := range t.pieces {
		script[i].text = p.text
		if ph := p.placeholder; ph != nil {
			script[i].placeholder = &scriptPlaceholder{written: src[ph.off : ph.off+ph.len], name: ph.name(), raw: ph.ref.Raw, mayHoldText: ph.mayHoldText()}
			written[script[i].placeholder] = ph
		}
	}
	var found []scriptProblem
	switch t.shell {
	case Cmd:
		script, found = placeCmd(src, script)
	case PowerShell:
		script, found = placePowerShell(script)
	default:
		found = placePython(src, script)
	}
	for p, ph := range written {
		ph.pos = position{place: p.place, written: p.written}
		if p.place.number {
			ph.pos.guard = guardNumber
		}
	}
	t.script = nil
	for _, p := range script {
		t.script = append(t.script, piece{text: p.text, placeholder: written[p.placeholder]})
	}
	for _, p := range found {
		ph, code := written[p.placeholder], codePosition
		if p.usedAsCode {
			code = CodeUsedAsCode
		}
		problems = append(problems, Problem{Code: code, Off: ph.off, Len: ph.len, Hint: p.hint, Message: p.message, Warning: p.usedAsCode})
	}
	if t.shell == Python {
		return problems
	}
	return append(problems, lintInterpreters(src, t.pieces)...)
}
