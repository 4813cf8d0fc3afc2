package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// reportEnd reports how a run ended, in the forms that the flags demand.
func reportEnd(env *ui.Env, res *runresult.Result, plan *engine.Plan, f runFlags, recorded bool) error {
	if ui.Verbose(f.Progress) || f.Progress == "quiet" && res.Status != dag.Succeeded {
		PrintOutcome(env, res, plan, recorded)
	}
	if res.Permissions != nil && f.output != "json" {
		printPermissions(env, res)
	}
	if f.Progress == "github" {
		if err := runview.WriteJobSummary(res, plan); err != nil {
			env.Notef("%v", err) // does not affect the result of the run
		}
	}
	if f.summary {
		return runview.Summarize(env, res, plan)
	}
	return nil
}

// PrintResult writes the result to stdout. The text form was already written there during the run.
func PrintResult(env *ui.Env, res *runresult.Result, form string) error {
	switch form {
	case "json":
		return ui.WriteResult(env, res)
	case "combined":
		out := ui.CleanWriter(env.Stdout)
		for i := range res.Steps {
			if err := printStepOutput(out, &res.Steps[i]); err != nil {
				return err
			}
		}
		return ui.Flush(out)
	}
	return nil
}

// printStepOutput writes the section of one step in -o combined.
func printStepOutput(w io.Writer, s *runresult.StepResult) error {
	if !s.Status.Executed() {
		return nil
	}
	if _, err := fmt.Fprintf(w, "--- %s: %s ---\n", s.ID, s.Status); err != nil {
		return err
	}
	return errors.Join(PrintStream(w, s.StdoutFile, s.Output), PrintStream(w, s.StderrFile, s.Error))
}

// PrintStream writes what a step printed: its file, or its text if it has no file.
func PrintStream(w io.Writer, file, text string) error {
	if file == "" {
		_, err := io.WriteString(w, text)
		return err
	}
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// PrintOutcome prints the notices of the run, one line about how it ended, and what to do about it. It prints no such line
// if the run succeeded without notes.
func PrintOutcome(env *ui.Env, res *runresult.Result, p *engine.Plan, recorded bool) {
	beside := notice.BesideStatus(res.Status, res.Notices)
	for _, line := range notice.Lines(slices.DeleteFunc(slices.Clone(beside), func(n dag.Notice) bool { return n.Announced })) {
		env.Notef("%s", line)
	}
	notes := slices.DeleteFunc(slices.Clone(res.Notes), func(note string) bool { return note == notice.Count(beside) })
	detail := res.Message
	if res.Status == dag.Succeeded {
		if len(notes) == 0 {
			return
		}
		detail = cmp.Or(detail, ui.Listed(res.Tolerated))
	}
	env.Notef("run %s %s%s", res.ID, strings.Replace(res.Status.With(notes...), "timed-out", "timed out", 1), ui.AfterColon(detail))
	if recorded && (res.Status != dag.Succeeded || res.Reason == plan.ReasonCleanup) {
		runview.SuggestNext(env, res, p.ChangedFiles(env.Library()))
	}
}

// runOutput writes the output of the run. If writing fails, for example because the reader of a
// pipe has exited, it stops the run and keeps the error.
type runOutput struct {
	w    io.Writer
	stop context.CancelCauseFunc
	err  error // may be read only after the run has ended
	last byte  // last byte written; may be read only after the run has ended
}

func (b *runOutput) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	if err != nil {
		b.err = fmt.Errorf("cannot write the run's output: %w", err)
		b.stop(b.err)
	}
	if n > 0 {
		b.last = p[n-1]
	}
	return n, err
}

// endLine ends an unfinished last line. Programs that print only a value often leave the line
// unfinished, and on a terminal the next message would follow on the same line.
func (b *runOutput) endLine() {
	if b.last != 0 && b.last != '\n' {
		b.Write([]byte("\n"))
	}
}
