package console

import (
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// reporter writes what is to be known of a step that failed: where it is written, what
// it ran, what it said last.
type reporter struct {
	w      io.Writer
	color  bool
	noLogs bool // log files go with the run
	scene  PlanInfo
}

// shownLines is how much of a failed step's output is repeated.
const shownLines = 10

// details are the lines below a failure. What a loop printed is that of its items, told
// already.
func (r *reporter) details(step dag.ID, res *dag.Result, loop bool) {
	o := res.Stderr
	if o == nil {
		o = res.Stdout
	}
	if r.scene.Pos != nil {
		if file, line, _ := r.scene.Pos(string(step)); line > 0 {
			fmt.Fprintf(r.w, "        at %s:%d\n", file, line)
		}
	}
	if p := res.Problem; p != nil && p.Solution != "" && res.Culprit == "" { // else it is that of a step inside
		fmt.Fprintf(r.w, "        hint: %s\n", Clean(p.Solution))
	}
	if o == nil || loop {
		return
	}
	text := tail(o)
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(lines) > shownLines {
		lines = lines[len(lines)-shownLines:]
	}
	for _, l := range lines {
		fmt.Fprintf(r.w, "        | %s\n", Sanitize(l))
	}
	if o.File != "" && !r.noLogs && (o.Size > int64(len(text)) || len(lines) == shownLines) {
		fmt.Fprintf(r.w, "        full output: %s\n", o.File)
	}
}

// command is what the step runs, in one line.
func (r *reporter) command(step dag.ID) {
	if r.scene.Command == nil {
		return
	}
	text := strings.TrimSpace(r.scene.Command(string(step)))
	if text == "" {
		return
	}
	first, more, _ := strings.Cut(text, "\n")
	if n := strings.Count(strings.TrimSpace(more), "\n") + 1; strings.TrimSpace(more) != "" {
		first += fmt.Sprintf("  (and %d more lines)", n)
	}
	fmt.Fprintf(r.w, "        $ %s\n", Clean(first))
}

// maxReported is how many failed steps are told of one by one.
const maxReported = 10

// failures reports the steps that failed, in plan order; of one that holds others
// those inside it.
func (t *tree) failures(r *reporter) {
	told, more := 0, 0
	var visit func(n *node)
	visit = func(n *node) {
		for f := n.Inside.Failed.First; f != nil; f = f.Next {
			switch {
			case f.Inside != nil && f.Inside.Failed.Len > 0:
				visit(f)
				continue
			case told == maxReported:
				more++
				continue
			}
			told++
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
