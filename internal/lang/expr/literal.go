package expr

import "github.com/flowrun/flowrun/internal/lang/quoting"

// Literal returns a Plain template of text without placeholders. Braces in it are text.
func Literal(text string) *Template { return LiteralScript(text, Plain) }

// LiteralScript returns a script for a shell without placeholders. Braces in it are text.
func LiteralScript(text string, sh Shell) *Template {
	return &Template{shell: sh, pieces: []piece{{text: text}}, static: true}
}

// LiteralArgv returns a command with exactly these words. Braces and quotes in them are text.
func LiteralArgv(words []string) *Template {
	t := &Template{shell: Argv, static: true}
	for i, w := range words {
		if i > 0 {
			t.pieces = append(t.pieces, piece{text: " "})
		}
		t.pieces = append(t.pieces, piece{text: displayText(w, quoting.Word)})
		t.words = append(t.words, argvWord{parts: []argvPart{{text: w, quoted: true}}, quoted: true})
	}
	return t
}
