package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/flowrun/flowrun/internal/engine/preview"
)

// Approval is what a person sees who decides about a call. None of its content can be trusted:
// names, texts and commands come from definitions and callers that may be hostile. Write puts
// all of it in a column to the right of flowrun's own labels and writes out characters that
// could deceive (see Visible).
type Approval struct {
	Why    string // the reason of the policy for asking
	Tools  []preview.PreviewTool
	Params []ApprovalParam
	Steps  []preview.PreviewStep
}

// ApprovalParam is a parameter with its value. The value is not secret.
type ApprovalParam struct{ Name, Value string }

// Limits of what is shown at first. What is left out is counted and is shown on request.
const (
	commandLines = 12  // lines of a command
	valueChars   = 600 // characters of a value
	listItems    = 30  // items of a list: tools, parameters, steps
)

// Write prints the approval for a terminal with width columns. It reports whether it left
// something out; with whole it leaves nothing out.
func (a Approval) Write(out io.Writer, width int, whole bool) (cut bool, err error) {
	w := &approvalWriter{width: max(width, 40), whole: whole}
	w.line("Approve?", a.Why)
	for i, t := range a.Tools {
		if w.omitRest(i, len(a.Tools), "tools") {
			break
		}
		w.tool(t)
	}
	for i, p := range a.Params {
		if w.omitRest(i, len(a.Params), "parameters") {
			break
		}
		w.quoted("parameter", "", p.Name+" =", p.Value)
	}
	for i, s := range a.Steps {
		if w.omitRest(i, len(a.Steps), "steps") {
			break
		}
		w.step(s)
	}
	_, err = io.WriteString(out, w.b.String())
	return w.cut, err
}

type approvalWriter struct {
	b     strings.Builder
	width int
	whole bool
	cut   bool
}

// labelColumns is the width of the column for flowrun's own labels. All other text is to the
// right of it.
const labelColumns = 14

// omitRest reports whether the rest of a list is left out. If so, it writes how many items are
// missing.
func (w *approvalWriter) omitRest(i, n int, what string) bool {
	if w.whole || i < listItems {
		return false
	}
	w.line("", fmt.Sprintf("... %d more %s", n-i, what))
	w.cut = true
	return true
}

// line writes a label and a text beside it, on as many lines as needed. Continuation lines begin
// with a +, so that no text can look like a line of its own.
func (w *approvalWriter) line(label, text string) {
	rest := Visible(text)
	for mark := ""; ; mark = "+ " {
		n := w.fitLength(rest, w.width-labelColumns-1-len(mark))
		w.b.WriteString(strings.TrimRight(pad(label, labelColumns)+mark+rest[:n], " ") + "\n")
		if rest, label = rest[n:], ""; len(rest) == 0 {
			return
		}
	}
}

// fitLength returns how many bytes of a text fit into room columns. It prefers to end after a word.
func (w *approvalWriter) fitLength(text string, room int) int {
	n, used := 0, 0
	for g := displaywidth.StringGraphemes(text); g.Next(); n += len(g.Value()) {
		if used += g.Width(); used > room && n > 0 {
			break
		}
	}
	if end := strings.LastIndexByte(text[:n], ' ') + 1; n < len(text) && end > n*2/3 {
		return end
	}
	return n
}

// quoted writes a value in quotes, after word if it is not empty. note follows the value.
func (w *approvalWriter) quoted(label, note, word, value string) {
	more := ""
	if r := []rune(value); !w.whole && len(r) > valueChars {
		w.cut = true
		value, more = string(r[:valueChars]), fmt.Sprintf(" ... %d more characters", len(r)-valueChars)
	}
	if word != "" {
		word = Visible(word) + " "
	}
	w.line(label, word+Quote(value)+more+note)
}

func (w *approvalWriter) tool(t preview.PreviewTool) {
	word := ""
	if t.Step != "" {
		word = "step " + Quote(t.Step) + " uses"
	}
	w.b.WriteString("\n")
	w.quoted("tool", "", word, t.Name)
	w.warnStrange("its name", t.Name)
	if t.File != "" {
		scope := ""
		if t.Scope != "" {
			scope = " (" + Visible(string(t.Scope)) + ")"
		}
		w.quoted("  defined in", scope, "", t.File)
	}
	if t.Privilege != "" {
		w.quoted("  rights", "", "", t.Privilege)
	}
	if len(t.Tags) == 0 {
		w.line("  tags", "none (treated as the highest risk)")
	}
	for _, tag := range t.Tags {
		w.quoted("  tag", "", "", tag)
	}
	for i, p := range t.Permissions {
		if w.omitRest(i, len(t.Permissions), "permissions") {
			break
		}
		w.quoted("  needs", "", "", p.Resolved)
		w.warnStrange("it", p.Resolved)
		if p.Written != p.Resolved {
			w.quoted("", "", "written", p.Written)
		}
	}
	if len(t.Enforced) > 0 {
		w.line("  enforced", strings.Join(t.Enforced, ", "))
	}
	if len(t.Unenforced) > 0 {
		w.line("  unenforced", strings.Join(t.Unenforced, "; "))
	}
	if t.Justification != "" {
		w.quoted("  reason", "", "", t.Justification)
	}
	w.facts(t.Facts())
}

// facts writes facts. Those that deserve attention come first, so that a long list does not hide them.
func (w *approvalWriter) facts(list []preview.Fact) {
	for _, f := range list {
		if f.Warns {
			w.fact("  ! ", f)
		}
	}
	count := map[string]int{}
	for _, f := range list {
		count[f.Many]++
	}
	written := map[string]int{}
	for _, f := range list {
		if f.Warns || f.Question.Before == "" {
			continue
		}
		n := written[f.Many]
		written[f.Many]++
		if f.Many == "" || n < listItems || w.whole {
			w.fact("  ", f)
		} else if n == listItems {
			w.omitRest(n, count[f.Many], f.Many)
		}
	}
}

func (w *approvalWriter) fact(mark string, f preview.Fact) {
	label, q := mark+f.Question.Before, f.Question
	switch {
	case q.Form == preview.Script:
		w.command(label, f.Text)
	case q.Form == preview.Plain:
		w.line(label, f.Text+q.After)
	case f.Name != "":
		w.quoted(label, q.After, f.Name+" =", f.Text)
	default:
		w.quoted(label, q.After, "", f.Text)
	}
}

// warnStrange warns about characters in a name that may look like others.
func (w *approvalWriter) warnStrange(what, name string) {
	if list := strangeCharacters(name); list != "" {
		w.line("  ! note", what+" contains non-ASCII characters that may look like others: "+list)
	}
}

func (w *approvalWriter) step(s preview.PreviewStep) {
	w.b.WriteString("\n")
	w.quoted("step", " ("+Visible(s.Kind)+")", "", s.ID)
	w.facts(s.Facts())
}

// command writes a command, each line after a vertical bar.
func (w *approvalWriter) command(label, text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, l := range lines {
		if !w.whole && i == commandLines {
			w.line(label, fmt.Sprintf("... %d more lines", len(lines)-i))
			w.cut = true
			return
		}
		more := ""
		if r := []rune(l); !w.whole && len(r) > valueChars {
			w.cut = true
			l, more = string(r[:valueChars]), fmt.Sprintf(" ... %d more characters", len(r)-valueChars)
		}
		w.line(label, "| "+VisibleLine(l)+more)
		label = ""
	}
}
