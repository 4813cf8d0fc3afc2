package expr

// Literal is a Plain template of a text that nothing is put into, braces and all.
func Literal(text string) *Template { return LiteralScript(text, Plain) }

// LiteralScript is a script that nothing is put into, braces and all, for a shell.
func LiteralScript(text string, sh Shell) *Template {
	return &Template{shell: sh, pieces: []piece{{text: text}}, static: true}
}

// LiteralArgv is a command of just these words, whatever stands in them.
func LiteralArgv(words []string) *Template {
	t := &Template{shell: Argv, static: true}
	for i, w := range words {
		if i > 0 {
			t.pieces = append(t.pieces, piece{text: " "})
		}
		t.pieces = append(t.pieces, piece{text: displayText(w, formWord)})
		t.words = append(t.words, argvWord{parts: []argvPart{{text: w, quoted: true}}, quoted: true})
	}
	return t
}
