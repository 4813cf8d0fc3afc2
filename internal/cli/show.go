package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
)

var showForms = []string{"text", "json"}

func (env *Env) showCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "show RUN",
		Short: "Show what came of a run and its steps",
		Long: `Show what came of a run and its steps, or of one that still runs, how far it is.
-o json prints the document that flowrun run -o json printed, without its notices.`,
		Example: `  flowrun show latest
  flowrun show 01jd3k -o json | jq .steps`,
		Args: oneRun,
		RunE: func(c *cobra.Command, args []string) error {
			if err := oneOf(c, "output", output, showForms); err != nil {
				return err
			}
			return env.reading(func(ctx context.Context, s *sqlite.Store) error {
				p, err := env.past(ctx, s, args[0])
				if err != nil {
					return err
				}
				if output == "json" {
					return env.writeJSON(p.Result())
				}
				return env.show(p)
			})
		},
		ValidArgsFunction: env.completeRunID,
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "print in this `form`: text|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(showForms, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (env *Env) show(p *flowrun.Past) error {
	r, now := p.Result(), time.Now()
	elapsed := took(p.Info.Started, r.Ended, r.Status, now)
	if p.Info.Live() {
		elapsed = console.Short(now.Sub(p.Info.Started)) + " so far"
	}
	fmt.Fprintf(env.Stdout, "run      %s\ntool     %s\nstatus   %s\nstarted  %s\n", r.ID, r.Tool, r.Status.With(append(exitNotes(r.ExitCode), r.Notes...)...), p.Info.Started.Local().Format(time.DateTime))
	for _, line := range []struct{ name, text string }{
		{"took", elapsed},
		{"retry of", r.RetryOf},
		{"begun by", p.Record.Origin},
		{"message", r.Message},
		{"params", shownParams(r.Params)},
		{"needs", listed(needed(r.Needs))},
	} {
		if line.text != "" {
			fmt.Fprintf(env.Stdout, "%-8s %s\n", line.name, console.Clean(line.text))
		}
	}
	fmt.Fprintln(env.Stdout)
	var rows [][]string
	shown, notes := shownSteps(r.Steps, mostItems)
	for _, s := range shown {
		note := stepNote(&s)
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
		rows = append(rows, []string{s.ID, s.Status.String(), took(s.Started, s.Ended, s.Status, now), note})
	}
	err := console.Table(env.Stdout, []string{"STEP", "STATUS", "TOOK", "NOTE"}, rows, console.TableOptions{Width: env.width(), Color: env.statusColors(1)})
	if err == nil && len(shown) < len(r.Steps) {
		env.say("%d more steps, of loops over many items, are not listed; -o json has all", len(r.Steps)-len(shown))
	}
	if err == nil {
		env.next(r)
	}
	return err
}

func exitNotes(code int) []string {
	if code == 0 {
		return nil
	}
	return []string{fmt.Sprintf("exit %d", code)}
}

func shownParams(m map[string]any) string {
	var words []string
	for _, k := range sortedKeys(m) {
		b, _ := json.Marshal(m[k])
		words = append(words, fmt.Sprintf("%s=%s", k, b))
	}
	return strings.Join(words, " ")
}

// stepNote says of a step what its state does not.
func stepNote(s *flowrun.StepResult) string {
	var words []string
	if s.ExitCode != 0 && s.Status.Executed() {
		words = append(words, fmt.Sprintf("exit %d", s.ExitCode))
	}
	if s.Attempts > 1 {
		words = append(words, fmt.Sprintf("%d tries", s.Attempts))
	}
	if s.Fallback {
		words = append(words, "fallback")
	}
	if s.Reason != "" && s.Status != dag.Succeeded && s.Reason != dag.ReasonExit && s.Reason != s.Status.String() {
		words = append(words, console.Reason(s.Reason))
	}
	if s.Truncated {
		words = append(words, "output cut at its buffer-limit")
	}
	if s.Message != "" {
		words = append(words, s.Message)
	}
	if p := s.Problem; p != nil && p.Solution != "" {
		words = append(words, "hint: "+p.Solution)
	}
	return strings.Join(words, ", ")
}

// handlerNote says why a handler was skipped; "" for another step.
func handlerNote(p *flowrun.Plan, r *flowrun.Result, id string) string {
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
			return "the handler before it failed: " + base
		}
	}
	return "not called for (" + key + ")"
}

// next says what people do now with a run that did not go well.
func (env *Env) next(r *flowrun.Result) {
	switch r.Status {
	case dag.Failed, dag.TimedOut, dag.Cancelled, dag.Interrupted:
	case dag.Waiting:
		env.wayToAnswer(r)
		return
	default:
		return
	}
	if r.Reason == dag.ReasonNotBegun {
		env.say("nothing of it ran; when the reason is gone, start it again: flowrun run %s", r.Tool)
		return
	}
	if step := firstFailed(r); step != "" {
		env.say("what it printed: flowrun logs %s %s", r.ID, flowrun.StepWord(step))
	}
	env.say("go on with it: flowrun resume %s", r.ID)
}

// firstFailed is the first step that failed, and not for a step inside of it; ""
// where none did. Those that were tolerated do not count.
func firstFailed(r *flowrun.Result) string {
	fine := map[dag.ID]bool{} // in spite of what failed inside
	for _, t := range r.Tolerated {
		fine[dag.ID(t)] = true
	}
	found := ""
	for _, s := range r.Steps {
		if s.Status == dag.Succeeded {
			fine[dag.ID(s.ID)] = true
		}
		failed := s.Status == dag.Failed || s.Status == dag.TimedOut
		if !failed || found != "" && !within(s.ID, found) || fine[dag.ID(s.ID)] {
			continue
		}
		if !slices.ContainsFunc(dag.ID(s.ID).Holders(), func(outer dag.ID) bool { return fine[outer] }) {
			found = s.ID
		}
	}
	return found
}

// within says whether a path is that of a step, or of one inside it.
func within(path, step string) bool {
	return under(withoutTries(path), withoutTries(step))
}

// under says whether a path is that of a step or begins with it.
func under(path, step string) bool {
	rest, ok := strings.CutPrefix(path, step)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '[')
}
