package expr

import (
	"strings"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Display returns the command as a person would write it, with quoted values in place of the
// placeholders. It is meant for dry runs and must never be passed to a shell. A value that is not
// known yet is shown as its reference, such as {a.output}. mask is applied to every value before
// it is quoted; nil leaves values as they are.
func (t *Template) Display(sc Scope, mask func(string) string) string {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	var b strings.Builder
	for _, p := range t.pieces {
		if p.placeholder == nil {
			b.WriteString(p.text)
			continue
		}
		b.WriteString(t.displayPlaceholder(p.placeholder, sc, mask))
	}
	return b.String()
}

func (t *Template) displayPlaceholder(ph *placeholder, sc Scope, mask func(string) string) string {
	if ph.at.Place.Form == quoting.Comment {
		return ph.at.Written
	}
	v, ref, err := ph.value(sc)
	if err != nil {
		return ph.name()
	}
	f := ph.at.Place.Form
	if t.shell == Argv {
		f = t.argvForm(ph)
	}
	if t.shell == Plain || v.Raw {
		f = quoting.Number
	}
	words, err := valueWords(ph, v, ref.Class, f != quoting.Word)
	if err != nil {
		return ph.name()
	}
	for i := range words {
		words[i] = t.displayWord(mask(words[i]), f)
	}
	return strings.Join(words, " ")
}

// argvForm returns how a placeholder of a run: command is quoted.
func (t *Template) argvForm(ph *placeholder) quoting.Form {
	for _, w := range t.words {
		for _, p := range w.parts {
			if p.placeholder == ph && p.quoted {
				return quoting.Inner
			}
		}
	}
	return quoting.Word
}

// displayWord quotes a value as the language of the script does.
func (t *Template) displayWord(s string, f quoting.Form) string {
	bare := f == quoting.Word || f == quoting.Single
	switch {
	case (t.shell == Python || t.shell == PowerShell) && isNumberText(s):
		return s
	case t.shell == Python && bare:
		return pythonText(s)
	case t.shell == PowerShell && bare:
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	case t.shell == Cmd && bare && (s == "" || strings.Trim(s, plainCmdBytes) != ""):
		return `"` + s + `"`
	case t.shell == Python || t.shell == PowerShell || t.shell == Cmd:
		return s
	}
	return displayText(s, f)
}

// displayText quotes a value for the quotes that it is in.
func displayText(s string, f quoting.Form) string {
	switch f {
	case quoting.Number:
		return s
	case quoting.Inner:
		return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s)
	case quoting.Quoted:
		return strings.ReplaceAll(s, "'", `'\''`)
	}
	if s != "" && strings.Trim(s, plainShellBytes) == "" {
		return s
	}
	return valuetext.ShellQuote(s)
}

// plainShellBytes are the characters that have no meaning in any shell.
const plainShellBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,@%+"
