package expr

import (
	"cmp"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Display returns the command as a person would write it, with quoted values in place of the
// placeholders. It is meant for dry runs and must never be passed to a shell. A value that is not
// known yet is shown as its reference, such as {a.output}. The words of a run: command are quoted
// for sh, also those of the author, because that command knows fewer characters than sh. mask is
// applied to every value before it is quoted; nil leaves values as they are.
func (t *Template) Display(sc Scope, mask func(string) string) string {
	if mask == nil {
		mask = func(s string) string { return s }
	}
	if t.shell == Argv {
		return t.displayArgv(sc, mask)
	}
	var b strings.Builder
	for _, p := range t.pieces {
		if p.placeholder == nil {
			b.WriteString(p.text)
			continue
		}
		if at := p.placeholder.at; at.Place.Form == quoting.Comment {
			b.WriteString(at.Written)
		} else {
			b.WriteString(strings.Join(t.displayWords(p.placeholder, at.Place.Form, sc, mask), " "))
		}
	}
	return b.String()
}

// displayArgv returns the words of a run: command, quoted part by part.
func (t *Template) displayArgv(sc Scope, mask func(string) string) string {
	var shown []string
	for _, w := range t.words {
		out := w.builder()
		for _, p := range w.parts {
			switch {
			case p.placeholder == nil:
				out.addText(shellword.Sh(p.text))
			case p.quoted:
				out.addWords(t.displayWords(p.placeholder, quoting.Single, sc, mask))
			default:
				out.addWords(t.displayWords(p.placeholder, quoting.Word, sc, mask))
			}
		}
		for _, word := range out.words {
			shown = append(shown, cmp.Or(word, "''"))
		}
	}
	return strings.Join(shown, " ")
}

// displayWords returns the words that a placeholder becomes, quoted for where it is.
func (t *Template) displayWords(ph *placeholder, f quoting.Form, sc Scope, mask func(string) string) []string {
	v, ref, err := ph.value(sc)
	if err != nil {
		return []string{ph.name()}
	}
	words, err := valueWords(ph, v, ref.Class, f != quoting.Word || v.Raw)
	if err != nil {
		return []string{ph.name()}
	}
	if t.shell == Plain || v.Raw && t.shell != Argv {
		f = quoting.Number
	}
	for i := range words {
		words[i] = t.displayWord(mask(words[i]), f)
	}
	return words
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
		return shellword.PowerShellSingle(s)
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
	return shellword.Sh(s)
}
