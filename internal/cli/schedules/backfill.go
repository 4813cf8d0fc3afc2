package schedules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// backfillModes are the values of --progress that many runs at once can have.
var backfillModes = []string{"auto", "plain", "quiet", "none"}

// backfillFlags are the flags of flowrun schedule backfill.
type backfillFlags struct {
	launch.ConsentFlags
	from, to string
	parallel int
	dryRun   bool
	output   string
}

func scheduleBackfillCommand(env *ui.Env) *cobra.Command {
	var f backfillFlags
	c := &cobra.Command{
		Use:   "backfill NAME --from TIME --to TIME",
		Short: "Run past scheduled times that had no run",
		Long: `Run the tool of a schedule for each past scheduled time that had no run, oldest first. This
command runs the tool itself; it needs no service. {schedule.time} and {schedule.date} in
the params of the schedule are the time that a run stands for.

Each time gets one run, whoever starts it. If you stop the command with Ctrl-C and call it
again, it continues with the times that are left. It does not repeat runs that failed or
were interrupted: use flowrun retry or flowrun resume.

It exits with 1 if a run did not succeed.`,
		Example: `  flowrun schedule backfill report --from 2026-09-01 --to 2026-10-01 --dry-run
  flowrun schedule backfill report --from 2026-09-01 --to 2026-10-01 --max-parallel 4`,
		Args: func(c *cobra.Command, args []string) error {
			switch {
			case len(args) != 1:
				return ui.Usagef(c, "give the name of one schedule")
			case f.from == "" || f.to == "":
				return ui.Usagef(c, "give --from and --to")
			case f.parallel < 1:
				return ui.Usagef(c, "--max-parallel must be at least 1")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if err := env.ResolveProgress(c, &f.InteractionFlags); err != nil {
				return err
			}
			env.TrustOnce(f.TrustProject)
			if err := f.Check(c); err != nil {
				return err
			}
			var err error
			if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
				return err
			}
			if f.dryRun {
				return env.ReadHistory(func(ctx context.Context, s ui.History) error { return previewBackfill(ctx, env, c, s, args[0], f) })
			}
			return env.WriteHistory(func(ctx context.Context, s ui.History) error { return backfill(ctx, env, c, s, args[0], f) })
		},
		ValidArgsFunction: completeSchedules(env),
	}
	fl := c.Flags()
	fl.StringVar(&f.from, "from", "", "the first scheduled `time`: a date or a time (RFC 3339)")
	fl.StringVar(&f.to, "to", "", "the end of the range, a `time` that is not part of it")
	fl.IntVar(&f.parallel, "max-parallel", 1, "have at most `n` runs active at once")
	fl.BoolVarP(&f.dryRun, "dry-run", "n", false, "list the times, without starting anything")
	fl.StringVar(&f.Progress, "progress", "auto", "how to show progress on stderr; `mode` is "+strings.Join(backfillModes, "|"))
	c.RegisterFlagCompletionFunc("progress", cobra.FixedCompletions(backfillModes, cobra.ShellCompDirectiveNoFileComp))
	fl.BoolVar(&f.NoInput, "no-input", false, "ask no questions")
	f.ConsentFlags.Declare(c)
	ui.OutputFlag(c, &f.output, "text", "json")
	return c
}

// backfillJSON is the document flowrun/backfill.v1.
type backfillJSON struct {
	Schema   string `json:"schema"`
	Schedule string `json:"schedule"`
	DryRun   bool   `json:"dry_run"`
	// Times are the scheduled times in the range, oldest first. Those that the command has not come to, and in a dry run those
	// for which it would start a run, have no status.
	Times  []service.BackfillTime `json:"times"`
	Runs   int                    `json:"runs"`   // that were started
	Failed int                    `json:"failed"` // of them, those that did not succeed
}

func (f backfillFlags) json() bool { return f.output == "json" }

// document returns the document of the command.
func (f backfillFlags) document(e timetable.Entry, list []service.BackfillTime) backfillJSON {
	return backfillJSON{Schema: "flowrun/backfill.v1", Schedule: e.Title, DryRun: f.dryRun, Times: append([]service.BackfillTime{}, list...)}
}

// planBackfill returns the schedule and its times in the range of the flags.
func planBackfill(ctx context.Context, env *ui.Env, c *cobra.Command, s timetable.Store, word string, f backfillFlags) (e timetable.Entry, list []service.BackfillTime, err error) {
	t, err := timetable.Read(ctx, s.Schedules(), env.Library())
	if err != nil {
		return e, nil, err
	}
	if e, err = findSchedule(t, word); err != nil {
		return e, nil, err
	}
	if e.Project != "" && e.Project != timetable.ProjectHere() {
		return e, nil, fmt.Errorf("schedule %s belongs to another project; run the command in %s", e.Title, e.Project)
	}
	from, err := tool.Moment(f.from, e.Zone())
	if err != nil {
		return e, nil, ui.Usagef(c, "--from: %v", err)
	}
	to, err := tool.Moment(f.to, e.Zone())
	if err != nil {
		return e, nil, ui.Usagef(c, "--to: %v", err)
	}
	list, err = timetable.PlanBackfill(ctx, s, e, from, to, time.Now())
	if errors.Is(err, outcome.ErrBackfill) {
		return e, nil, ui.Usage(err, c)
	}
	return e, list, err
}

func previewBackfill(ctx context.Context, env *ui.Env, c *cobra.Command, s ui.History, word string, f backfillFlags) error {
	e, list, err := planBackfill(ctx, env, c, s, word, f)
	if err != nil {
		return err
	}
	if f.json() {
		return ui.WriteJSON(env, f.document(e, list))
	}
	due := 0
	rows := make([][]string, len(list))
	for i, t := range list {
		status := t.Status
		if status == "" {
			status, due = "would run", due+1
		}
		rows[i] = []string{timeText(t.At), status, t.Run}
	}
	env.Notef("would start %s; %s", plural.Of(due, "run"), alreadyText(len(list)-due))
	if len(list) == 0 {
		return nil
	}
	return ui.Table(env, []console.Column{{Title: "TIME"}, {Title: "STATUS"}, {Title: "RUN", Whole: true}}, rows, nil)
}

func timeText(t time.Time) string { return t.Format("2006-01-02 15:04:05 -07:00") }

func alreadyText(n int) string {
	if n == 1 {
		return "1 time already has a run"
	}
	return plural.Of(n, "time") + " already have a run"
}

func backfill(ctx context.Context, env *ui.Env, c *cobra.Command, s ui.History, word string, f backfillFlags) error {
	e, list, err := planBackfill(ctx, env, c, s, word, f)
	if err != nil {
		return err
	}
	plan, err := ui.Compile(env, e.Tool)
	if err != nil {
		return err
	}
	what := launch.Subject{Tools: plan.Tools()}
	if _, err := launch.Consent(env, s, what, f.ConsentFlags); err != nil {
		return err
	}
	defer launch.ApplyRetention(ctx, env, s.Retention(), f.Settings)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	signals := env.Signals(stop)
	defer signals.Stop()
	config, tidy, err := launch.EngineConfig(s, f.ConsentFlags, 0)
	if err != nil {
		return err
	}
	defer tidy()
	config.JavaScript = env.JavaScript()
	x := &backfiller{env: env, store: s, flags: f, entry: e, plan: plan, engine: engine.New(config), signals: signals}
	b := timetable.Backfill{Firings: s.Firings(), Entry: e, MaxParallel: f.parallel, Execute: x.execute, Report: x.report}
	if err := b.Run(ctx, list); err != nil && ctx.Err() == nil {
		return err
	}
	return x.end(ctx, list)
}

// backfiller executes the runs of a backfill in this process.
type backfiller struct {
	env     *ui.Env
	store   ui.History
	flags   backfillFlags
	entry   timetable.Entry
	plan    *engine.Plan
	engine  *engine.Engine
	signals *ui.Signals

	ended, failed int                    // runs that were started here
	reported      []service.BackfillTime // they
}

func (x *backfiller) execute(ctx context.Context, run string, params map[string]any) (status string, err error) {
	dir := x.entry.Workspace()
	res, err := x.engine.Run(ctx, x.plan, params, engine.WithID(run), engine.WithOrigin(timetable.BackfillOrigin(x.entry.Name)), engine.WithForce(x.signals.Force),
		engine.WithTrace(launch.InheritedTrace()), engine.WithShortOutput(), engine.WithLabels(x.entry.Labels), engine.WithRunEnv(engine.RunEnv{Workspace: dir,
			TrustedProject: x.flags.Settings.Trust.ProjectOf(dir), JavaScript: x.env.JavaScript()}))
	if res == nil {
		if info, known := x.store.Info(context.WithoutCancel(ctx), run); known == nil { // a service was faster
			return info.Status.String(), nil
		}
		return "", err
	}
	launch.Notify(ctx, x.env, x.signals, x.store, launch.RunEnd{Result: res, Plan: x.plan, Err: err}, x.flags.ConsentFlags, dir)
	return res.Status.String(), nil
}

// report prints a run when it has ended. Calls do not overlap.
func (x *backfiller) report(t service.BackfillTime) {
	if t.Status == "running" {
		return
	}
	x.ended++
	if t.Status != "succeeded" {
		x.failed++
	}
	if x.reported = append(x.reported, t); x.flags.json() {
		return
	}
	line := timeText(t.At) + "  " + t.Run + "  " + t.Status
	if t.Reason != "" {
		line += ": " + console.Visible(t.Reason)
	}
	fmt.Fprintln(x.env.Stdout, line)
}

// end prints how many runs there were, and returns the exit code as an error.
func (x *backfiller) end(ctx context.Context, list []service.BackfillTime) error {
	if x.flags.json() {
		doc := x.flags.document(x.entry, list)
		doc.Runs, doc.Failed = x.ended, x.failed
		for i, t := range doc.Times {
			if at := slices.IndexFunc(x.reported, func(r service.BackfillTime) bool { return r.At.Equal(t.At) }); at >= 0 {
				doc.Times[i] = x.reported[at]
			}
		}
		if err := ui.WriteJSON(x.env, doc); err != nil {
			return err
		}
	}
	before := 0
	for _, t := range list {
		if t.Status != "" {
			before++
		}
	}
	text := fmt.Sprintf("%s, %d did not succeed; %s", plural.Of(x.ended, "run"), x.failed, alreadyText(before))
	if left := len(list) - before - x.ended; left > 0 {
		text += fmt.Sprintf("; %s left: call the command again", plural.Of(left, "time"))
	}
	x.env.Notef("%s", text)
	if code := x.signals.Code(); code != 0 && ctx.Err() != nil {
		return ui.CodeError(code)
	}
	if x.failed > 0 {
		return ui.CodeError(outcome.ExitFailed)
	}
	return nil
}
