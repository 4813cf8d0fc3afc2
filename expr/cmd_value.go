package expr

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// longestCmdLine is how long a line may become; cmd cuts at 8191 characters.
const longestCmdLine = 8000

// putCmd writes references to the words. Bare, a word gets quotes where a program or
// a command of cmd's own would not take it for one plain word.
func (r *scriptRenderer) putCmd(h *hole, words []string) error {
	if err := checkUTF8(h, words); err != nil {
		return err
	}
	for i, w := range words {
		quoted := h.sits.form == formInner || strings.Trim(w, plainCmdBytes) != "" || w == ""
		if why := cmdRefuses(w, quoted && (h.sits.form == formWord || h.sits.closes)); why != "" {
			return fmt.Errorf("cannot put %s into the script as %s: %s", Quoted(w), h.name(), why)
		}
		if i > 0 {
			r.text.WriteByte(' ')
		}
		ref := ""
		if w != "" {
			ref = "!" + r.variable(w) + "!"
		}
		if quoted && h.sits.form == formWord {
			ref = `"` + ref + `"`
		}
		r.text.WriteString(ref)
	}
	return nil
}

// plainCmdBytes neither separate words nor mean an option anywhere.
const plainCmdBytes = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:\@`

// cmdRefuses says why a value cannot be a word or a part of one, or "". ends: a quote
// follows it.
func cmdRefuses(w string, ends bool) string {
	switch {
	case strings.ContainsAny(w, "\r\n"):
		return "cmd has no words of several lines; write it to a file, or use input"
	case strings.Contains(w, `"`):
		return "a quote in it would end the quotes around it and make several arguments of it; pass it by environment, or use run:"
	case ends && strings.HasSuffix(w, `\`):
		return "its last backslash would make programs overlook the quote after it; leave the backslash away"
	}
	return ""
}

// cmdScript turns on the expansion that the references need.
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
		if n > longestCmdLine {
			return Script{}, fmt.Errorf("cannot run the script: with its values a line has %d characters, and cmd takes %d; pass long values by environment or input", n, longestCmdLine)
		}
	}
	if strings.Contains(text, cmdBang) {
		vars = append(vars, Var{Name: strings.Trim(cmdBang, "!"), Value: "!"})
	}
	if strings.Contains(text, cmdCaret) {
		vars = append(vars, Var{Name: strings.Trim(cmdCaret, "!"), Value: "^"})
	}
	return Script{Text: "@setlocal EnableDelayedExpansion\n" + text, Vars: vars}, nil
}

// utf16Size is how long Windows takes a text to be.
func utf16Size(s string) int { return len(utf16.Encode([]rune(s))) }
