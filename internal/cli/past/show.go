package past

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func showCommand(env *ui.Env) *cobra.Command {
	var output string
	var definition bool
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show the status and results of a run and its steps",
		Long: `Show the status and results of a run and its steps. If the run is still active, show its
progress. If it failed, show the last lines of the step that failed. -o json prints the same document as flowrun run -o json.

FILE is the definition that the run used, with the checksum of its text. --definition prints that text, with
secrets masked, although the file may have changed since; of a run that used several definitions it
prints each under its name.`,
		Example: `  flowrun show latest
  flowrun show latest --definition | diff - nightly.yaml
  flowrun show 1m80y -o json | jq .steps`,
		Args: ui.OneRun,
		RunE: func(c *cobra.Command, args []string) error {
			if definition && output == "json" {
				return ui.Usagef(c, "--definition prints text: it cannot be combined with -o json")
			}
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				p, err := env.LoadRun(ctx, s, findrun.Read, args[0])
				if err != nil {
					return err
				}
				if definition {
					return showDefinitions(env, p.Definitions())
				}
				if output == "json" {
					return ui.WriteResult(env, p.Result())
				}
				return show(env, p)
			})
		},
		ValidArgsFunction: runview.CompleteRunID(env, findrun.Read),
	}
	c.Flags().BoolVar(&definition, "definition", false, "print the text of the definition that the run used")
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

// showDefinitions prints the texts of definitions: one as it is, several each below its name.
func showDefinitions(env *ui.Env, list []runresult.Definition) error {
	for i, d := range list {
		title := ""
		if len(list) > 1 {
			title = strings.Repeat("\n", min(i, 1)) + "==> " + console.Clean(d.Name) + " <==\n"
		}
		if _, err := fmt.Fprintf(env.Stdout, "%s%s", title, d.Text); err != nil {
			return err
		}
	}
	return nil
}

// definitionNames returns the names of definitions, each with the beginning of its digest.
func definitionNames(list []runresult.Definition) string {
	var words []string
	for _, d := range list {
		words = append(words, d.Name+" "+d.ShortDigest())
	}
	return strings.Join(words, ", ")
}

func show(env *ui.Env, p *engine.RecordedRun) error {
	r := p.Result()
	fmt.Fprintf(env.Stdout, "run      %s\ntool     %s\nstatus   %s\nstarted  %s\n", r.ID, r.Tool, r.Status.With(append(exitNotes(r.ExitCode), r.Notes...)...), r.Started.Local().Format(time.DateTime))
	for _, line := range []struct{ name, text string }{
		{"took", runview.RunTook(r)},
		{"retry of", r.RetryOf},
		{"attempt", runview.Attempt(r, p.Plan)},
		{"next", runview.RetryNote(r, p.Plan)},
		{"origin", p.Record.Origin},
		{"file", definitionNames(r.Definitions)},
		{"message", r.Message},
		{"labels", label.Listed(r.Labels)},
		{"params", shownValues(r.Params)},
		{"outputs", shownValues(r.Outputs)},
		{"needs", ui.Listed(runview.LockTitles(r.LockDemands))},
		{"kept", runview.ArtifactNames(r)},
		{"temp", keptTemps(p)},
	} {
		showLine(env, line.name, line.text)
	}
	for _, line := range notice.Lines(notice.BesideStatus(r.Status, r.Notices)) {
		showLine(env, "notice", line)
	}
	fmt.Fprintln(env.Stdout)
	var rows [][]string
	shown, notes := runview.ShownSteps(r.Steps, runview.MaxItems)
	for _, s := range shown {
		note := runview.StepNote(&s)
		if slices.Contains(r.Tolerated, s.ID) {
			note = strings.TrimPrefix(note+", tolerated", ", ")
		}
		if s.Reason == dag.ReasonCondition {
			note = cmp.Or(handlerNote(p.Plan, r, s.ID), note)
		}
		if of := notes[s.ID]; of != "" && note != "" {
			note = of + "; " + note
		} else if of != "" {
			note = of
		}
		rows = append(rows, []string{s.ID, s.Status.String(), runview.StepTook(&s), runview.CPU(s.Usage), runview.Memory(s.Usage), note})
	}
	header := withoutEmpty(stepColumns, rows, 3, 4)
	err := ui.Table(env, header, rows, statusColors(env, 1))
	if err == nil && len(shown) < len(r.Steps) {
		env.Notef("%d more steps, which are items of loops, are not listed; -o json lists all", len(r.Steps)-len(shown))
	}
	if err == nil {
		err = showFailure(env, r)
	}
	if err == nil {
		reportLeftovers(env, r)
		runview.SuggestNext(env, r, p.ChangedFiles(env.Library()))
	}
	return err
}

var stepColumns = []console.Column{{Title: "STEP"}, {Title: "STATUS"}, {Title: "TOOK", Yields: 4, Whole: true}, {Title: "CPU", Yields: 1, Whole: true}, {Title: "MEMORY", Yields: 2, Whole: true}, {Title: "NOTE", Yields: 3, Prose: true}}

// showLine prints a line about the run, unless the text is empty.
func showLine(env *ui.Env, name, text string) {
	if text != "" {
		fmt.Fprintf(env.Stdout, "%-8s %s\n", name, console.Clean(text))
	}
}

// withoutEmpty removes those of the columns, the last first, that no row uses, from rows and from
// the header, which it returns.
func withoutEmpty(header []console.Column, rows [][]string, columns ...int) []console.Column {
	header = slices.Clone(header)
	for _, at := range slices.Backward(columns) {
		if slices.ContainsFunc(rows, func(row []string) bool { return row[at] != "" }) {
			continue
		}
		header = slices.Delete(header, at, at+1)
		for i := range rows {
			rows[i] = slices.Delete(rows[i], at, at+1)
		}
	}
	return header
}

// maxFailureLines is how many lines of the failed step are repeated.
const maxFailureLines = 10

// showFailure prints the last lines of the step that failed first, from standard error or, if that is
// empty, from standard output.
func showFailure(env *ui.Env, r *runresult.Result) error {
	s := r.Step(r.FirstFailed())
	if s == nil {
		return nil
	}
	text, stream := strings.TrimSpace(s.Error), "standard error"
	if text == "" {
		text, stream = strings.TrimSpace(s.Output), "output"
	}
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-maxFailureLines):]
	_, err := fmt.Fprintf(env.Stdout, "\nend of the %s of %s:\n", stream, console.Clean(s.ID))
	for _, line := range lines {
		if err == nil {
			_, err = fmt.Fprintf(env.Stdout, "  | %s\n", console.OutputLine(line))
		}
	}
	return err
}

func exitNotes(code int) []string {
	if code == 0 {
		return nil
	}
	return []string{fmt.Sprintf("exit %d", code)}
}

func shownValues(m map[string]any) string {
	var words []string
	for _, k := range ui.SortedKeys(m) {
		b, _ := json.Marshal(m[k])
		words = append(words, fmt.Sprintf("%s=%s", k, b))
	}
	return strings.Join(words, " ")
}

// handlerNote says why a handler was skipped. It returns "" for other steps.
func handlerNote(p *engine.Plan, r *runresult.Result, id string) string {
	key, of := p.Handler(id)
	if key == "" {
		return ""
	}
	around := strings.TrimSuffix(id, string(dag.ID(id).Base()))
	for _, s := range r.Steps {
		if s.ID == id {
			break
		}
		base, inside := strings.CutPrefix(s.ID, around)
		itsKey, itsOf := p.Handler(s.ID)
		failed := s.Status == dag.Failed || s.Status == dag.TimedOut
		if inside && failed && itsKey == key && itsOf == of && string(dag.ID(s.ID).Base()) == base && !slices.Contains(r.Tolerated, s.ID) {
			return "an earlier handler failed: " + base
		}
	}
	return "not needed (" + key + ")"
}
