package past

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/observe/rundiff"
	"github.com/flowrun/flowrun/internal/screen/console"
)

func diffCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "diff RUN [RUN]",
		Short: "Show what changed between two runs, or since the tool last succeeded",
		Long: `Show what differs between two runs, the earlier one first. If you name one run, it is
compared with the last run before it that succeeded, of the same tool and file.

The runs differ in how they ended and how long they took, the texts of their definitions,
their parameters, the names of environment variables (values are not recorded), and
the version of flowrun. Of the steps, those are listed that ended differently, took more than
twice as long or half the time (and a second more or less), or printed something else: then
the first line that differs is shown. -o json has all steps.`,
		Example: `  flowrun diff latest
  flowrun diff 1m80y 1m85c -o json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 && len(args) != 2 {
				return ui.Usagef(c, "give one run or two: an id, a unique prefix of it, or %s", history.Latest)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				d, err := diffOf(ctx, env, s, args)
				switch {
				case err != nil:
					return err
				case output == "json":
					return ui.WriteJSON(env, d)
				}
				return showDiff(env, d)
			})
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			if len(args) != 1 {
				return runview.CompleteRunID(env, findrun.Read)(c, args, prefix)
			}
			return runview.RunIDs(env, findrun.Read, "", prefix), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		},
	}
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

// diffOf compares the two runs that words name, or one with the last good run before it.
func diffOf(ctx context.Context, env *ui.Env, s history.Store, words []string) (*rundiff.Diff, error) {
	state, err := ui.StateDir()
	if err != nil {
		return nil, err
	}
	run, err := env.LoadRun(ctx, s, findrun.Read, words[0])
	if err != nil {
		return nil, err
	}
	var other *engine.RecordedRun
	if len(words) == 2 {
		other, err = env.LoadRun(ctx, s, findrun.Read, words[1])
	} else if reference, missing := rundiff.Reference(ctx, s, run.Record); missing == nil {
		other, err = env.LoadRun(ctx, s, findrun.Read, reference)
	} else if err = missing; errors.Is(missing, history.ErrNoRun) {
		err = ui.Missing(missing)
	}
	if err != nil {
		return nil, err
	}
	return rundiff.Of(state, other, run)
}

func showDiff(env *ui.Env, d *rundiff.Diff) error {
	if err := diffRuns(env, d); err != nil {
		return err
	}
	w := env.Stdout
	for _, def := range d.Definitions {
		fmt.Fprintf(w, "\n%s %s:\n", console.Clean(def.Name), changeWord(def.Before != "", def.After != ""))
		writeIndented(w, def.Diff)
	}
	if len(d.Params) > 0 {
		fmt.Fprintln(w, "\nparameters:")
	}
	for _, p := range d.Params {
		fmt.Fprintf(w, "  %s: %s -> %s\n", console.Clean(p.Name), shownValue(p.Before), shownValue(p.After))
	}
	if v := d.Variables; v != nil {
		for _, list := range []struct {
			word  string
			names []string
		}{{"added", v.Added}, {"removed", v.Removed}} {
			if len(list.names) > 0 {
				fmt.Fprintf(w, "\nenvironment variables %s: %s\n", list.word, console.Clean(ui.Listed(list.names)))
			}
		}
	}
	if err := diffSteps(env, d); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\n%s\n", unchanged(d))
	if d.LogsCut {
		env.Notef("the logs are long: only their beginning was compared")
	}
	return err
}

// diffRuns prints how both runs ended.
func diffRuns(env *ui.Env, d *rundiff.Diff) error {
	b, a := d.Before, d.After
	row := func(name string, of func(rundiff.Run) string) []string { return []string{name, of(b), of(a)} }
	rows := [][]string{
		row("status", func(r rundiff.Run) string { return r.Status.With(exitNotes(r.ExitCode)...) }),
		row("started", func(r rundiff.Run) string { return r.Started.Local().Format(time.DateTime) }),
		row("took", func(r rundiff.Run) string { return runview.Took(time.Duration(r.Duration)*time.Millisecond, r.Status) }),
	}
	for _, r := range [][]string{
		row("tool", func(r rundiff.Run) string { return r.Tool }),
		row("origin", func(r rundiff.Run) string { return cmp.Or(r.Origin, "cli") }),
		row("flowrun", func(r rundiff.Run) string { return cmp.Or(r.Flowrun, "not recorded") }),
	} {
		if r[1] != r[2] {
			rows = append(rows, r)
		}
	}
	return ui.Table(env, []console.Column{{Title: "RUN"}, {Title: b.ID}, {Title: a.ID}}, rows, nil)
}

// maxDiffSteps is how many steps that differ are listed.
const maxDiffSteps = 50

// diffSteps prints the steps that differ, and the lines that do.
func diffSteps(env *ui.Env, d *rundiff.Diff) error {
	var rows [][]string
	var listed []rundiff.Step
	more := 0
	for _, s := range d.Steps {
		switch {
		case !s.Notable:
		case len(rows) == maxDiffSteps:
			more++
		default:
			rows = append(rows, []string{s.ID, stepCell(s.Before), stepCell(s.After)})
			listed = append(listed, s)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(env.Stdout)
	if err := ui.Table(env, []console.Column{{Title: "STEP"}, {Title: "BEFORE", Yields: 2}, {Title: "AFTER", Yields: 1}}, rows, nil); err != nil {
		return err
	}
	for _, s := range listed {
		for _, l := range s.Logs {
			stream := "output"
			if l.Stream == "stderr" {
				stream = "standard error"
			}
			fmt.Fprintf(env.Stdout, "\n%s, line %d of the %s:\n", console.Clean(s.ID), l.Line, stream)
			for _, line := range []struct {
				sign string
				text *string
			}{{"-", l.Before}, {"+", l.After}} {
				if line.text != nil {
					fmt.Fprintf(env.Stdout, "  %s %s\n", line.sign, console.OutputLine(*line.text))
				}
			}
		}
	}
	if more > 0 {
		env.Notef("%d more steps that differ are not listed; -o json lists all", more)
	}
	return nil
}

// stepCell describes a step in one of the runs.
func stepCell(s *rundiff.StepState) string {
	if s == nil {
		return "not there"
	}
	var notes []string
	if s.Attempts > 1 {
		notes = append(notes, fmt.Sprintf("%d attempts", s.Attempts))
	}
	text := s.Status.With(append(exitNotes(s.ExitCode), notes...)...)
	if s.Attempts == 0 {
		return text
	}
	return text + " " + short(s.Duration)
}

// unchanged says what both runs have in common, and what is not known.
func unchanged(d *rundiff.Diff) string {
	var same, unknown []string
	add := func(what string, equal, known bool) {
		switch {
		case !known:
			unknown = append(unknown, what)
		case equal:
			same = append(same, what)
		}
	}
	add("the definition", len(d.Definitions) == 0, true)
	add("the parameters", len(d.Params) == 0, true)
	add("the names of environment variables", d.Variables != nil && len(d.Variables.Added)+len(d.Variables.Removed) == 0, d.Variables != nil)
	add("the version of flowrun", d.Before.Flowrun == d.After.Flowrun, d.Before.Flowrun != "" && d.After.Flowrun != "")
	var words []string
	if len(same) > 0 {
		words = append(words, "unchanged: "+strings.Join(same, ", "))
	}
	if len(unknown) > 0 {
		words = append(words, "not recorded of both: "+strings.Join(unknown, ", "))
	}
	return strings.Join(words, "\n")
}

func changeWord(before, after bool) string {
	switch {
	case !before:
		return "is new"
	case !after:
		return "is no longer used"
	}
	return "changed"
}

// shownValue returns a value of a parameter as JSON, without what could do harm to a terminal.
func shownValue(v any) string {
	if v == nil {
		return "not set"
	}
	b, _ := json.Marshal(v)
	return console.Clean(string(b))
}

// writeIndented prints lines with two spaces before each.
func writeIndented(w io.Writer, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(w, "  %s\n", console.Clean(strings.TrimSuffix(line, "\n")))
	}
}
