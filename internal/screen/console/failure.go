package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// reporter writes the details of a failed step: where it is defined, what it ran, and the end of
// its output.
type reporter struct {
	w      io.Writer
	color  bool
	noLogs bool // log files are removed with the run: do not name them
	plan   PlanInfo
}

// maxOutputLines is how many lines of a failed step's output are repeated.
const maxOutputLines = 10

// details writes the lines below a failure. For a loop it leaves out the output, because it is
// that of its items and was already reported.
func (r *reporter) details(step dag.ID, res *dag.Result, loop bool) {
	o := res.Stderr
	if o == nil {
		o = res.Stdout
	}
	r.location(step)
	if p := res.Problem; p != nil && p.Solution != "" && res.Culprit == "" { // otherwise the hint belongs to a nested step
		fmt.Fprintf(r.w, "        hint: %s\n", Clean(p.Solution))
	}
	if o == nil || loop {
		return
	}
	text := tail(o)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > maxOutputLines {
		lines = lines[len(lines)-maxOutputLines:]
	}
	for _, l := range lines {
		fmt.Fprintf(r.w, "        | %s\n", OutputLine(l))
	}
	if o.File != "" && !r.noLogs && (o.Size > int64(len(text)) || len(lines) == maxOutputLines) {
		fmt.Fprintf(r.w, "        full output: %s\n", o.File)
	}
}

// location writes where the step is defined.
func (r *reporter) location(step dag.ID) {
	if r.plan.Pos == nil {
		return
	}
	switch file, line, _ := r.plan.Pos(string(step)); {
	case line == 0:
	case file == "":
		fmt.Fprintf(r.w, "        at line %d of the text that ran\n", line)
	default:
		fmt.Fprintf(r.w, "        at %s:%d\n", file, line)
	}
}

// command writes the first line of what the step runs.
func (r *reporter) command(step dag.ID) {
	lines := r.commandLines(step)
	if len(lines) == 0 {
		return
	}
	more := ""
	switch n := len(lines) - 1; {
	case n == 1:
		more = "  (and 1 more line)"
	case n > 1:
		more = fmt.Sprintf("  (and %d more lines)", n)
	}
	fmt.Fprintf(r.w, "        $ %s%s\n", Clean(lines[0]), more)
}

// wholeCommand writes all lines of what the step runs.
func (r *reporter) wholeCommand(step dag.ID) {
	sign := "$"
	for _, l := range r.commandLines(step) {
		fmt.Fprintf(r.w, "        %s %s\n", sign, Clean(l))
		sign = ">"
	}
}

func (r *reporter) commandLines(step dag.ID) []string {
	if r.plan.Command == nil {
		return nil
	}
	text := strings.TrimSpace(r.plan.Command(string(step)))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// maxReportedFailures limits how many failed steps are reported one by one.
const maxReportedFailures = 10

// failures reports the failed steps in plan order. For a failed step that contains failed steps,
// it reports those.
func (t *tree) failures(r *reporter) {
	shown, more := 0, 0
	var visit func(n *node)
	visit = func(n *node) {
		for f := n.Inside.Failed.First; f != nil; f = f.Next {
			switch {
			case f.Inside != nil && f.Inside.Failed.Len > 0:
				visit(f)
				continue
			case shown == maxReportedFailures:
				more++
				continue
			}
			shown++
			head := fmt.Sprintf("%s  %s", Clean(string(f.Path)), brief(f.Result))
			if r.color {
				head = red + head + reset
			}
			fmt.Fprintf(r.w, "%s\n", head)
			r.command(f.Path)
			r.details(f.Path, f.Result, f.Inside != nil)
		}
	}
	visit(t.Root)
	if more > 0 {
		fmt.Fprintf(r.w, "and %d more failed\n", more)
	}
}
