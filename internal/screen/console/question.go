package console

import (
	"io"
	"strings"
)

// Question is what a step asks a person at a terminal. Its texts come from definitions and from
// the output of steps. They are written as in an Approval: in their own column, and with
// characters that could deceive written out.
type Question struct {
	Step, Tool, Run string
	Prompt          string
	Until           string // the deadline; "" means none
}

// promptLines is how many lines of a prompt are shown.
const promptLines = 40

// Write prints the question for a terminal with width columns.
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
