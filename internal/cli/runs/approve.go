package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/keyboard"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/runview"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// answering is the answer that a person gives on the command line.
type answering struct {
	Approve bool
	comment string
	params  string // file with the values of the form
}

func approveCommand(env *ui.Env) *cobra.Command {
	r := answering{Approve: true}
	var f runFlags
	c := &cobra.Command{
		Use:   "approve RUN [STEP] [FIELD=value ...]",
		Short: "Approve a step that waits for approval, and continue the run",
		Long: `Approve a waiting step that has the key approve. flowrun records the answer and then
continues the run, unless the process that executes the run, or the service, continues it.
A run on Temporal is continued by its workers. Steps that have ended stay as they ended.

STEP is the path that flowrun show prints, such as deploy[eu]/gate. You can omit it if only
one step is waiting. If the step has a form, give its values like parameters: FIELD=text,
FIELD:=JSON, FIELD=@file or --params FILE. Omitted fields get their default.

Secret parameters of the run are not recorded, so give them again, along with the fields.

Only the first answer counts. If the step of a waiting run has timed out, continue the run
with flowrun resume.`,
		Example: `  flowrun approve latest
  flowrun approve 1m80y gate VERSION=1.4.2 --comment "tests are green"
  flowrun approve 1m80y 'deploy[eu]/gate'`,
		Args:              someRun,
		RunE:              func(c *cobra.Command, args []string) error { return answerQuestion(env, c, args, r, f) },
		ValidArgsFunction: completeQuestion(env),
	}
	r.declare(c)
	addRunFlags(c, &f)
	return c
}

func rejectCommand(env *ui.Env) *cobra.Command {
	var r answering
	var f runFlags
	c := &cobra.Command{
		Use:   "reject RUN [STEP]",
		Short: "Reject a step that waits for approval, and continue the run",
		Long: `Reject a waiting step that has the key approve. The step fails, and flowrun continues the
run, including its on-failure steps, unless the process that executes the run, or the
service, continues it. The command exits with 0 even though the step fails.`,
		Example:           `  flowrun reject latest gate --comment "wait for Monday"`,
		Args:              someRun,
		RunE:              func(c *cobra.Command, args []string) error { return answerQuestion(env, c, args, r, f) },
		ValidArgsFunction: completeQuestion(env),
	}
	r.declare(c)
	addRunFlags(c, &f)
	return c
}

// declare adds the flags of the answer to a command.
func (r *answering) declare(c *cobra.Command) {
	c.Flags().StringVar(&r.comment, "comment", "", "a `text` to record with the answer")
	if r.Approve {
		c.Flags().StringVar(&r.params, "params", "", "read the fields of the form from this JSON or YAML `file`; - is stdin")
	}
}

// answer returns the answer to a question. words are the fields of its form. If they are invalid, it prints
// the reasons.
func (r *answering) answer(env *ui.Env, c *cobra.Command, q history.Question, words []string) (history.Answer, error) {
	values, err := formValues(env, c, q, words, *r)
	return history.Answer{Step: q.Step, Wait: q.Wait, Approve: r.Approve, Comment: r.comment, Values: values, By: env.UserAndTerminal(), At: time.Now()}, err
}

// answerQuestion answers a question of a run, and continues the run if nobody else does.
func answerQuestion(env *ui.Env, c *cobra.Command, args []string, r answering, f runFlags) error {
	if err := f.check(env, c); err != nil {
		return err
	}
	return engines.Act(env, func(ctx context.Context, s history.Store, local ui.History) error {
		recorded, err := env.LoadRun(ctx, s, findrun.Answer, args[0])
		if err != nil {
			return err
		}
		q, words, err := findQuestion(recorded, args[1:])
		if err != nil {
			return err
		}
		params, words := splitSecrets(recorded, q, words)
		answer, err := r.answer(env, c, q, words)
		if err != nil {
			return err
		}
		if note := runview.ChangedNote(recorded.ChangedFiles(env.Library()), recorded.Record.ID); note != "" && (f.dryRun || ui.Verbose(f.Progress)) {
			env.Notef("note: %s", note)
		}
		if f.dryRun {
			env.Notef("step %s of run %s would be %s", q.Step, recorded.Record.ID, r.verb())
			return nil
		}
		if err := s.Answer(ctx, recorded.Record.ID, answer); err != nil {
			return addResumeHint(recorded, err)
		}
		if recorded.Info.Engine != "" {
			return awaitTaken(ctx, env, s, recorded, q, r, ui.Verbose(f.Progress))
		}
		if ui.Verbose(f.Progress) {
			env.Notef("%s step %s of run %s", r.verb(), q.Step, recorded.Record.ID)
		}
		f.answered, f.rejected = dag.ID(q.Step), !r.Approve
		for lost := true; lost; lost = lostRace(err) {
			if elsewhere, err := continuedElsewhere(ctx, env, local, recorded, q, ui.Verbose(f.Progress)); err != nil || elsewhere {
				return err
			}
			err = continueRun(ctx, env, c, local, recorded, params, f)
		}
		if code := ui.CodeError(0); !r.Approve && errors.As(err, &code) && code == outcome.ExitFailed {
			return nil // the run failed because of the rejection, which is the intended result
		}
		return err
	})
}

// takenTimeout is how long approve and reject wait until a worker of another engine has taken the answer.
const takenTimeout = 10 * time.Second

// awaitTaken waits until the workers of another engine, which then continue the run, have taken an answer. If tell is set, it
// says that they have.
func awaitTaken(ctx context.Context, env *ui.Env, s history.Store, p *engine.RecordedRun, q history.Question, r answering, tell bool) error {
	for until := time.Now().Add(takenTimeout); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		if err := p.Refresh(ctx, s); err != nil {
			return err
		}
		if !asks(p, q) {
			if !tell {
				return nil
			}
			env.Notef("%s step %s of run %s", r.verb(), q.Step, p.Record.ID)
			return nil
		}
	}
	env.Notef("the answer to step %s of run %s is stored; a worker has not taken it yet", q.Step, p.Record.ID)
	return nil
}

// asks reports whether a question of a run is open.
func asks(p *engine.RecordedRun, q history.Question) bool {
	return slices.ContainsFunc(p.Questions(), func(x history.Question) bool { return x.Wait == q.Wait })
}

// lostRace reports whether a run was not resumed because another process, which answered
// another of its questions, resumed it first.
func lostRace(err error) bool {
	return errors.Is(err, history.ErrLive) || errors.Is(err, history.ErrChanged)
}

// verb returns what the answer did to the step.
func (r *answering) verb() string {
	if r.Approve {
		return "approved"
	}
	return "rejected"
}

// addResumeHint adds a hint to the error of a question that has already been answered.
func addResumeHint(p *engine.RecordedRun, err error) error {
	if errors.Is(err, history.ErrAnswered) && p.Info.Status != dag.Running {
		return fmt.Errorf("%w; to continue the run: flowrun resume %s", err, p.Record.ID)
	}
	return err
}

// findQuestion returns the question that the arguments after the run name, and its field values.
func findQuestion(p *engine.RecordedRun, words []string) (q history.Question, values []string, err error) {
	step := ""
	if len(words) > 0 && !strings.Contains(words[0], "=") {
		step, words = words[0], words[1:]
	}
	open := p.Questions()
	matching := engine.Named(open, step)
	switch {
	case len(matching) == 0:
		return q, nil, noQuestion(p, step, open)
	case len(matching) > 1:
		return q, nil, ui.Usage(fmt.Errorf("%d steps are waiting for an answer; name one of them: %s", len(matching), ui.Listed(stepsOf(matching))), nil)
	}
	q = matching[0]
	if q.Over(time.Now()) {
		err = fmt.Errorf("too late: step %s waited for an answer until %s; to continue the run: flowrun resume %s", q.Step, q.Until.Local().Format(time.DateTime), p.Record.ID)
	}
	return q, words, err
}

func stepsOf(qs []history.Question) []string {
	list := make([]string, len(qs))
	for i, q := range qs {
		list[i] = q.Step
	}
	return list
}

// noQuestion returns the reason why a run, or a step of it, has no question to answer.
func noQuestion(p *engine.RecordedRun, step string, open []history.Question) error {
	id, res := p.Record.ID, p.Result()
	waiting := ""
	if len(open) > 0 {
		waiting = "; waiting steps: " + ui.Listed(stepsOf(open))
	}
	verb := ""
	switch res.Status {
	case dag.Failed, dag.TimedOut, dag.Cancelled:
		verb = "; to run again what failed: flowrun resume " + id
	case dag.Interrupted:
		verb = "; to continue it: flowrun resume " + id
	}
	if step == "" {
		return fmt.Errorf("no step of run %s is waiting for an answer; the run %s%s", id, findrun.StatusText(res.Status, res.Notes...), verb)
	}
	if i := slices.IndexFunc(res.Steps, func(s runresult.StepResult) bool { return engine.Means(step, s.ID) }); i >= 0 {
		s := res.Steps[i]
		said := ""
		if s.Message != "" {
			said = " (" + s.Message + ")"
		}
		return fmt.Errorf("step %s of run %s is not waiting for an answer; it %s%s%s%s", step, id, findrun.StatusText(s.Status), said, waiting, verb)
	}
	if p.Plan.Step(step) == nil {
		return p.NoStep(step)
	}
	return fmt.Errorf("step %s of run %s is not waiting for an answer yet%s", step, id, waiting)
}

// formValues returns the validated values of the question's form.
func formValues(env *ui.Env, c *cobra.Command, q history.Question, words []string, r answering) (map[string]any, error) {
	list, err := launch.ParseAssignments(c, words)
	if err != nil {
		return nil, err
	}
	if !r.Approve {
		if len(list) > 0 {
			return nil, ui.Usagef(c, "reject takes no field values; to give a reason, use --comment")
		}
		return nil, nil
	}
	bad := &value.ParamsError{Tool: q.Tool}
	doc, err := launch.ReadDocument(env, r.params, func(name string) bool { return launch.FieldType(q, name) == "string" })
	if err != nil {
		bad.Problems = append(bad.Problems, value.ParamProblem{Name: "--params", Code: "document", Message: err.Error(), Hint: `give a file with one JSON or YAML object, as in {"FIELD": "value"}, or - for stdin`})
		doc.Values = map[string]any{}
	}
	values := doc.Values
	given := map[string][]any{}
	for _, as := range list {
		v, err := as.FieldValue(q)
		if err != nil {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: as.Name, Code: "type", Message: err.Error(), Hint: as.Hint()})
			continue
		}
		given[as.Name] = append(given[as.Name], v)
	}
	for name, vs := range given {
		if values[name] = vs[0]; len(vs) > 1 {
			values[name] = vs
		}
	}
	filled, err := q.Check(values)
	var more *value.ParamsError
	if errors.As(err, &more) {
		for _, p := range more.Problems {
			if !slices.ContainsFunc(bad.Problems, func(x value.ParamProblem) bool { return x.Name == p.Name || x.Code == "document" }) {
				bad.Problems = append(bad.Problems, p)
			}
		}
	}
	if len(bad.Problems) == 0 {
		return filled, err
	}
	for _, p := range bad.Problems {
		env.Notef("field %s: %s%s", console.Clean(p.Name), console.Clean(p.Message), ui.HintSuffix(p.Hint))
	}
	return nil, ui.CodeError(outcome.ExitParams)
}

// continueTimeout is how long approve waits for another process to continue the run.
const continueTimeout = 5 * time.Second

// continuedElsewhere reports whether another process, the owner of the run or the service,
// continues a run that has been answered. An owner that was about to release the run may have
// missed the answer; one that received it may already have finished the run, which must not run
// again. If tell is set, the result is also printed.
func continuedElsewhere(ctx context.Context, env *ui.Env, s history.Store, p *engine.RecordedRun, q history.Question, tell bool) (bool, error) {
	id := p.Record.ID
	reportElsewhere := func(format string, args ...any) (bool, error) {
		if tell {
			env.Notef(format, args...)
		}
		return true, nil
	}
	if err := p.Refresh(ctx, s); err != nil {
		return false, err
	}
	for until := time.Now().Add(continueTimeout); p.Info.Status == dag.Running || p.Info.Status == dag.Pending; {
		if !asks(p, q) || time.Now().After(until) {
			return reportElsewhere("process %[2]d continues run %[1]s; to see how it ends: flowrun show %[1]s", id, p.Info.PID)
		}
		time.Sleep(50 * time.Millisecond)
		if err := p.Refresh(ctx, s); err != nil {
			return false, err
		}
	}
	if p.Info.Status.Settled() && p.Info.Status != dag.Interrupted {
		return reportElsewhere("run %s has ended in the meantime; it %s; for details: flowrun show %s", id, findrun.StatusText(p.Info.Status), id)
	}
	dir, err := ui.StateDir()
	if err != nil {
		return false, err
	}
	if p.Record.Origin != "" && ui.ServiceRunning(dir) {
		return reportElsewhere("the service continues run %s; to see how it ends: flowrun show %s", id, id)
	}
	return false, nil
}

// splitSecrets separates the arguments that give secret parameters again, which the run needs to
// continue, from the fields of the form.
func splitSecrets(p *engine.RecordedRun, q history.Question, words []string) (secrets, fields []string) {
	for _, w := range words {
		name := strings.TrimSuffix(w[:max(strings.IndexByte(w, '='), 0)], ":")
		if slices.Contains(p.Record.Withheld, name) && (q.Form == nil || q.Form.Field(name) == nil) {
			secrets = append(secrets, w)
		} else {
			fields = append(fields, w)
		}
	}
	return secrets, fields
}

// continueRun resumes a run that has been answered.
func continueRun(ctx context.Context, env *ui.Env, c *cobra.Command, s ui.History, recorded *engine.RecordedRun, secrets []string, f runFlags) (err error) {
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	list, err := launch.ParseAssignments(c, secrets)
	if err != nil {
		return err
	}
	params, err := launch.CollectParams(env, recorded.Plan, engine.RunEnv{}, "", list)
	if err != nil {
		return err
	}
	var o engine.ResumeOptions
	return continueRecorded(ctx, env, s, recorded, params.Values, f, func(p *engine.RecordedRun, params map[string]any, yes bool) (*engine.Continuation, error) {
		o.Params, o.RerunAsked = params, yes
		return p.Continue(env.Library(), o)
	})
}

// completeQuestion completes runs that wait for an answer, their waiting steps, and the fields of a
// step's form.
func completeQuestion(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) (words []string, _ cobra.ShellCompDirective) {
		const none = cobra.ShellCompDirectiveNoFileComp
		if len(args) == 0 {
			return runview.RunIDs(env, findrun.Answer, "", prefix), none | cobra.ShellCompDirectiveKeepOrder
		}
		engines.Read(env, func(ctx context.Context, s history.Store) error {
			p, err := env.LoadRun(ctx, s, findrun.Answer, args[0])
			if err != nil {
				return err
			}
			open := p.Questions()
			if len(args) == 1 {
				for _, q := range open {
					if strings.HasPrefix(q.Step, prefix) {
						words = append(words, complete.WithDescription(q.Step, q.Prompt))
					}
				}
			}
			if q, _, err := findQuestion(p, args[1:]); err == nil && c.Name() == "approve" {
				words = append(words, fieldWords(q, prefix)...)
			}
			return nil
		})
		if slices.ContainsFunc(words, func(w string) bool { name, _, _ := strings.Cut(w, "\t"); return strings.HasSuffix(name, "=") }) {
			return words, none | cobra.ShellCompDirectiveNoSpace
		}
		return words, none
	}
}

// fieldWords returns completions for the fields of a form and their choices.
func fieldWords(q history.Question, prefix string) (words []string) {
	if q.Form == nil {
		return nil
	}
	for _, f := range q.Form.Fields {
		if word := f.Name + "="; strings.HasPrefix(word, prefix) {
			words = append(words, complete.WithDescription(word, f.Description))
			continue
		}
		for _, v := range keyboard.Choices(f) {
			if word := f.Name + "=" + v; strings.HasPrefix(word, prefix) && v == console.Clean(v) {
				words = append(words, word)
			}
		}
	}
	return words
}
