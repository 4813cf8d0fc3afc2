package schedules

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/schedule"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
)

func scheduleAddCommand(env *ui.Env) *cobra.Command {
	var p timetable.AddedSchedule
	var name string
	var params, labels []string
	var replace bool
	c := &cobra.Command{
		Use:   "add TOOL --cron EXPR | --every TIME [PARAM=value ...]",
		Short: "Add a schedule",
		Long: `Add a schedule. While flowrun serve is running, it starts the tool at the scheduled times.
Give the tool by its name. A tool of a project runs only in a service that was started in
that project. A schedule in a definition (schedule:) applies without this command; flowrun
schedule list shows it.

Write parameters as for flowrun run, or with -p. Secret parameters are rejected; let the
tool fetch them with environment.secrets.`,
		Example: `  flowrun schedule add report --cron "0 7 * * 1-5" --timezone Europe/Zurich
  flowrun schedule add sync --every 15m --overlap queue -p TARGET=backup
  flowrun schedule add billing --cron "0 2 1 * *" --catch-up all --catch-up-window 7d`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef(c, "missing argument: give the name of a tool")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			var err error
			if p.Labels, err = label.Parse(labels); err != nil {
				return ui.Usagef(c, "--label: %v; %s", err, label.Rules)
			}
			return addSchedule(env, c, args[0], name, append(args[1:], params...), p, replace)
		},
		ValidArgsFunction: complete.Run(env),
	}
	fl := c.Flags()
	fl.StringVar(&p.Cron, "cron", "", "run at the times of this cron `expression`, such as \"0 7 * * 1-5\" or @daily")
	fl.StringVar(&p.Every, "every", "", "run at this `interval` (15m, 6h)")
	fl.StringVar(&p.Timezone, "timezone", "", "the time `zone` of the cron expression, such as Europe/Zurich (default: the machine's)")
	fl.StringVar(&name, "name", "", "the `name` of the schedule (default: the tool's)")
	fl.StringArrayVarP(&params, "param", "p", nil, "a parameter of the runs, `K=V`")
	fl.StringArrayVar(&labels, "label", nil, "record this label with its runs, `name=value`, to find them with flowrun runs --label")
	fl.StringVar(&p.Overlap, "overlap", "", "if the previous run is still active, skip the new one, queue it, cancel the active run, or allow both, a `mode`: "+strings.Join(timetable.OverlapWords(), "|")+" (default skip)")
	fl.StringVar(&p.CatchUp, "catch-up", "", "run missed times not at all, once, or all of them, a `mode`: "+strings.Join(timetable.CatchUpWords(), "|")+" (default once)")
	fl.StringVar(&p.Window, "catch-up-window", "", "ignore missed times older than this `age` (6h, 7d)")
	fl.IntVar(&p.Max, "catch-up-max", 0, fmt.Sprintf("with --catch-up all, run at most the newest `n` missed times (default %d)", tool.MaxCatchUp))
	fl.StringVar(&p.Jitter, "jitter", "", "delay each run by a random time of at most this `duration` (30s)")
	fl.StringVar(&p.Start, "start", "", "ignore scheduled times before this `time`: a date or a time (RFC 3339)")
	fl.StringVar(&p.End, "end", "", "ignore scheduled times from this `time` on")
	fl.StringVar(&p.MustEndBy, "must-end-by", "", "report a run that has not succeeded by this `time`: a time of day (06:00), or a duration from the scheduled time (45m)")
	fl.IntVar(&p.PauseAfter, "pause-after", 0, "pause the schedule after this `number` of failed runs in a row")
	fl.StringArrayVar(&p.Except, "except", nil, "ignore scheduled times on this `day` (2026-12-25), or on the days of a range (2026-12-24..2026-12-31)")
	fl.StringVar(&p.ExceptFile, "except-file", "", "ignore scheduled times on the days in this `file`, which has one date or range a line")
	fl.BoolVar(&p.SkipIfSuccessful, "skip-if-successful", false, "skip a scheduled time if the tool has succeeded since the previous one")
	fl.BoolVar(&replace, "override", false, "replace the added schedule that has the same name")
	c.RegisterFlagCompletionFunc("param", complete.Param(env))
	c.RegisterFlagCompletionFunc("overlap", cobra.FixedCompletions(timetable.OverlapWords(), cobra.ShellCompDirectiveNoFileComp))
	c.RegisterFlagCompletionFunc("catch-up", cobra.FixedCompletions(timetable.CatchUpWords(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func addSchedule(env *ui.Env, c *cobra.Command, word, name string, words []string, p timetable.AddedSchedule, replace bool) error {
	if err := checkFlags(&p, c); err != nil {
		return err
	}
	when, err := scheduleFlags(c, p)
	if err != nil {
		return err
	}
	list, err := launch.ParseAssignments(c, words)
	if err != nil {
		return err
	}
	if strings.ContainsAny(word, `/\`) {
		return ui.Usagef(c, "a schedule runs a tool by its name, but %q is a path; add the file as a tool: flowrun tool import", word)
	}
	lib := env.Library()
	def, _, err := lib.Lookup(word, nil)
	if err != nil {
		return ui.MarkMissing(err, word)
	}
	plan, err := ui.Compile(env, word)
	if err != nil {
		return err
	}
	params, err := launch.CollectParams(env, plan, engine.RunEnv{}, "", list)
	if err != nil {
		return err
	}
	p.Params = params.Values
	example := map[string]any{} // what {schedule.NAME} stands for is known only when a run starts
	for name, v := range p.Params {
		example[name] = tool.FillSchedule(v, time.Now())
	}
	if err := checkParams(plan, example); err != nil {
		return err
	}
	r := sqlite.Schedule{Name: name, Tool: def.Name, Plan: p.String()}
	if r.Name == "" {
		r.Name = def.Name
	}
	if !tool.ValidScheduleName(r.Name) {
		return ui.Usagef(c, "invalid --name %q; use letters, digits, '_', '.' and '-'", r.Name)
	}
	if def.Scope == tool.ScopeLocal {
		r.Project = timetable.ProjectOf(def.File)
	}
	r.ID = timetable.ScheduleID(r.Name, r.Project)
	return env.WriteHistory(func(ctx context.Context, s ui.History) error {
		if err := saveSchedule(ctx, s, lib, r, replace); err != nil {
			return err
		}
		fmt.Fprintf(env.Stdout, "added %s\n", r.Name)
		if err := printTimes(env, []named{{Schedule: when}}, time.Now(), 3); err != nil {
			return err
		}
		reportNoService(env, r.Project)
		return nil
	})
}

// saveSchedule adds the schedule unless a definition has its name.
func saveSchedule(ctx context.Context, s timetable.Store, lib *library.Library, r sqlite.Schedule, replace bool) error {
	t, err := timetable.Read(ctx, s.Schedules(), lib)
	if err != nil {
		return err
	}
	for _, e := range t.Entries {
		if e.Name == r.ID && e.By == "" {
			return fmt.Errorf("cannot add schedule %s: the definition %s has a schedule of that name; give another --name, or change the definition", r.Name, e.Source)
		}
	}
	err = s.Schedules().Add(ctx, r, replace)
	if errors.Is(err, sqlite.ErrTaken) {
		return fmt.Errorf("cannot add schedule %s: a schedule of that name exists; give another --name, or replace it with --override", r.Name)
	}
	return err
}

// checkParams validates the parameters of a schedule. It rejects secret ones, because schedules
// are stored and displayed in plain text.
func checkParams(plan *engine.Plan, params map[string]any) error {
	bad := launch.BindProblems(plan, engine.RunEnv{}, params)
	for name := range params {
		if plan.Secret(name) {
			bad.Tool = plan.Name()
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "secret", Message: "is secret and cannot be given to a schedule",
				Hint: "let the tool fetch the value with environment.secrets"})
		}
	}
	if len(bad.Problems) > 0 {
		return bad
	}
	return nil
}

// checkFlags validates all flags but the cron expression. It rewrites durations in Go's notation.
func checkFlags(p *timetable.AddedSchedule, c *cobra.Command) error {
	if (p.Cron == "") == (p.Every == "") {
		return ui.Usagef(c, "give either --cron or --every")
	}
	if p.Overlap != "" {
		if err := ui.OneOf(c, "overlap", p.Overlap, timetable.OverlapWords()); err != nil {
			return err
		}
	}
	if p.CatchUp != "" {
		if err := ui.OneOf(c, "catch-up", p.CatchUp, timetable.CatchUpWords()); err != nil {
			return err
		}
	}
	if c.Flags().Changed("catch-up-max") && p.CatchUp != "all" {
		return ui.Usagef(c, "--catch-up-max requires --catch-up all: the other modes run at most one missed time")
	}
	if c.Flags().Changed("catch-up-max") && p.Max < 1 || p.Max > tool.MaxCatchUp {
		return ui.Usagef(c, "--catch-up-max must be from 1 to %d", tool.MaxCatchUp)
	}
	if c.Flags().Changed("pause-after") && (p.PauseAfter < 1 || p.PauseAfter > 100) {
		return ui.Usagef(c, "--pause-after must be from 1 to 100")
	}
	if p.ExceptFile != "" {
		file, err := filepath.Abs(p.ExceptFile)
		if err != nil {
			return err
		}
		p.ExceptFile = file
	}
	for _, f := range []struct {
		flag string
		text *string
	}{{"every", &p.Every}, {"catch-up-window", &p.Window}, {"jitter", &p.Jitter}} {
		if *f.text == "" {
			continue
		}
		d, err := config.Age(*f.text)
		if err != nil || d < time.Second || d%time.Second != 0 {
			return ui.Usagef(c, "--%s %q is not a duration in whole seconds; write it as in 30s, 15m, 6h or 7d", f.flag, *f.text)
		}
		*f.text = d.String()
	}
	return nil
}

// scheduleFlags returns the schedule that the flags describe. Start and interval count from now.
func scheduleFlags(c *cobra.Command, p timetable.AddedSchedule) (schedule.Schedule, error) {
	if p.Timezone != "" {
		if _, err := cron.LoadZone(p.Timezone); err != nil {
			return schedule.Schedule{}, ui.Usagef(c, "--timezone: %v", err)
		}
	}
	t, err := timetable.FromRule(p.Rule())
	if err == nil && p.ExceptFile != "" {
		var days cron.Days
		days, err = timetable.ReadExcept(p.ExceptFile)
		t.Except = t.Except.Union(days)
	}
	if bad, ok := errors.AsType[*cron.Error](err); ok {
		return t, cronUsageError(c, bad)
	}
	t.Spec = t.Spec.From(time.Now())
	if !t.Start.IsZero() {
		t.Spec = t.Spec.From(t.Start)
	}
	switch {
	case err != nil:
		return t, ui.Usage(err, c)
	case t.Spec.Zoned() && p.Timezone != "":
		return t, ui.Usagef(c, "both the cron expression and --timezone give a time zone; use only one of them")
	case !t.Start.IsZero() && !t.End.IsZero() && !t.Start.Before(t.End):
		return t, ui.Usagef(c, "--end is before --start")
	case t.Next(time.Now()).IsZero():
		return t, ui.Usagef(c, "the schedule would never run: --end is in the past or before the next scheduled time, or --except leaves out all times")
	}
	return t, nil
}
