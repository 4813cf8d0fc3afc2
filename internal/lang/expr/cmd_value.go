package expr

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/flowrun/flowrun/internal/lang/quoting"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// maxCmdLine is the maximum length of a line in characters. cmd cuts lines at 8191.
const maxCmdLine = 8000

// writeCmd writes references to the words. Outside quotes it adds quotes around a word that a
// program, or a command of cmd itself, would not read as one plain word.
func (r *scriptRenderer) writeCmd(ph *placeholder, words []string) error {
	if err := checkUTF8(ph, words); err != nil {
		return err
	}
	for i, w := range words {
		quoted := ph.at.Place.Form == quoting.Inner || strings.Trim(w, plainCmdBytes) != "" || w == ""
		if why := cmdWordProblem(w, quoted && (ph.at.Place.Form == quoting.Word || ph.at.Place.BeforeQuote)); why != "" {
			return fmt.Errorf("cannot put %s into the script as %s: %s", valuetext.Quoted(w), ph.name(), why)
		}
		if i > 0 {
			r.text.WriteByte(' ')
		}
		ref := ""
		if w != "" {
			ref = "!" + r.variable(w) + "!"
		}
		if quoted && ph.at.Place.Form == quoting.Word {
			ref = `"` + ref + `"`
		}
		r.text.WriteString(ref)
	}
	return nil
}

// plainCmdBytes are the characters that neither separate words nor begin an option.
const plainCmdBytes = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:\@`

// cmdWordProblem returns why a value cannot be a word or a part of one, "" if it can. ends
// reports that a quote follows the value.
func cmdWordProblem(w string, ends bool) string {
	switch {
	case strings.ContainsAny(w, "\r\n"):
		return "a word in cmd cannot contain line breaks; write it to a file, or use input"
	case strings.Contains(w, `"`):
		return "a quote in it would end the quotes around it and split it into several arguments; pass it through environment, or use run:"
	case ends && strings.HasSuffix(w, `\`):
		return "it ends with a backslash, which would escape the quote after it; remove the backslash"
	}
	return ""
}

// cmdScript returns the script with delayed expansion turned on, which the references need. It
// fails if a line is too long with its values.
func cmdScript(text string, vars []Var) (Script, error) {
	sizes := map[string]int{}
	for _, v := range vars {
		sizes[v.Name] = utf16Size(v.Value)
	}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "^\n", ""), "\n") {
		n := utf16Size(line)
		for name := range strings.SplitSeq(line, "!") {
			n += sizes[name]
		}
		if n > maxCmdLine {
			return Script{}, fmt.Errorf("cannot run the script: with its values, a line has %d characters, but the limit of cmd is %d; pass long values through environment or input", n, maxCmdLine)
		}
	}
	if strings.Contains(text, quoting.CmdBang) {
		vars = append(vars, Var{Name: strings.Trim(quoting.CmdBang, "!"), Value: "!"})
	}
	if strings.Contains(text, quoting.CmdCaret) {
		vars = append(vars, Var{Name: strings.Trim(quoting.CmdCaret, "!"), Value: "^"})
	}
	return Script{Text: "@setlocal EnableDelayedExpansion\n" + text, Vars: vars}, nil
}

// utf16Size returns the length of a text as Windows counts it, in UTF-16 code units.
func utf16Size(s string) int { return len(utf16.Encode([]rune(s))) }
