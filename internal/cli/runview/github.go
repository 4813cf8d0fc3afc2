package runview

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/screen/drawing"
)

// narrateGitHub prints progress for the log of GitHub Actions.
func narrateGitHub(env *ui.Env, n Narration, t *Narrator) {
	s := planInfo(env, n)
	pos := s.Pos
	s.Pos = func(path string) (string, int, int) {
		file, line, col := pos(path)
		return ui.InRepository(file), line, col
	}
	stderr := env.Stderr
	g := console.NewGitHub(stderr, ui.Paths(n.Plan, ""), s)
	if n.Resumed != nil {
		g.Recall(n.Resumed.Events)
	}
	g.NoLogs, g.Commands = !n.Recorded, n.Verbose
	env.Stderr = g.Writer()
	t.addSink(g)
	t.Queued = func(q history.QueuePosition) { g.Waits(dag.ID(q.Step), waitReason(q)) }
	t.End = sync.OnceFunc(func() {
		g.Close()
		env.Stderr = stderr
	})
}

// Limits of the job summary for large runs.
const (
	maxRows  = 200
	maxBoxes = 100
)

// WriteJobSummary appends the result of a run to the job summary of GitHub Actions. It does nothing
// elsewhere.
func WriteJobSummary(r *runresult.Result, p *engine.Plan) error {
	name := os.Getenv("GITHUB_STEP_SUMMARY")
	if name == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "### %s: %s, %s\n\n", markdownCell(r.Tool), r.Status.With(r.Notes...), console.Short(r.Duration()))
	b.WriteString("| Step | State | Took | Note |\n|---|---|---|---|\n")
	shown, notes := ShownSteps(r.Steps, MaxItems)
	for i, s := range shown {
		if i == maxRows {
			fmt.Fprintf(&b, "\n%d more steps\n", len(shown)-maxRows)
			break
		}
		note := notes[s.ID]
		if note == "" {
			note = StepNote(&s)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", markdownCell(s.ID), s.Status, StepTook(&s), markdownCell(note))
	}
	if names := ArtifactNames(r); names != "" {
		fmt.Fprintf(&b, "\nArtifacts: %s\n", markdownCell(names))
	}
	if boxes := drawing.Boxes(p); countBoxes(boxes) <= maxBoxes {
		MarkSteps(boxes, StepStates(r))
		MarkLoops(boxes, CountByStep(p, r.Steps))
		b.WriteString("\n```mermaid\n")
		if err := drawing.Draw(&b, boxes, "mermaid"); err != nil {
			return err
		}
		b.WriteString("```\n")
	}
	b.WriteString("\n")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the job summary (GITHUB_STEP_SUMMARY): %w", err)
	}
	_, err = io.WriteString(f, b.String())
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func countBoxes(boxes []drawing.Box) int {
	n := 0
	for _, b := range boxes {
		if !b.Join {
			n += 1 + countBoxes(b.Inside)
		}
	}
	return n
}

// markdownCell escapes text for a cell of a Markdown table.
func markdownCell(s string) string {
	s = console.Sanitize(strings.ReplaceAll(s, "\n", " "))
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|~$&@:", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
