package console

import (
	"io"
	"strings"
)

// Question is what a step asks a person at a terminal. Its texts come from definitions
// and from what steps printed, and are written as in an Approval: each in its place, with
// everything spelled out that could deceive.
type Question struct {
	Step, Tool, Run string
	Prompt          string
	Until           string // when it is too late; "" is never
}

// promptLines is how many lines of a prompt are shown.
const promptLines = 40

// Write prints the question for a terminal of that many columns.
func (q Question) Write(out io.Writer, width int) error {
	w := &approvalWriter{width: max(width, 40), whole: true}
	w.b.WriteString("\n")
	w.line("Approve?", q.Step+" in run "+q.Run+" of "+q.Tool)
	lines := strings.Split(strings.TrimRight(q.Prompt, "\n"), "\n")
	for i, l := range lines {
		if i == promptLines {
			w.line("", "...")
			break
		}
		w.line("", "| "+strings.ReplaceAll(l, "\t", "    "))
	}
	if q.Until != "" {
		w.line("until", q.Until)
	}
	_, err := io.WriteString(out, w.b.String())
	return err
}
