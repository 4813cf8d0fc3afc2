package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/schedule"
)

func scheduleCommand(env *ui.Env) *cobra.Command {
	c := ui.Group(&cobra.Command{
		Use:   "schedule",
		Short: "Let Temporal start runs at scheduled times",
	})
	c.AddCommand(syncCommand(env))
	return c
}

// syncFlags are the flags of flowrun-temporal schedule sync.
type syncFlags struct {
	connection
	set    string
	dryRun bool
	output string
}

func syncCommand(env *ui.Env) *cobra.Command {
	var f syncFlags
	c := &cobra.Command{
		Use:   "sync",
		Short: "Make the schedules of this project Schedules of Temporal",
		Long: `Make the schedules of this project Schedules of Temporal, which then start the runs. Call
the command again whenever a definition or a schedule has changed: it shows what differs,
and adds, changes and removes. Outside of a project, these are your own schedules.

A Schedule has a copy of the definitions. The ids begin with flowrun:SET:, and no Schedule
without that is touched. Give each project that shares a namespace a --set of its own.

A schedule that Temporal would carry out in another way, such as at an hour that clocks
skip, is refused with the reason. The command then changes nothing.`,
		Example: `  flowrun-temporal schedule sync --dry-run
  flowrun-temporal schedule sync --set shop`,
		Args: ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return env.ReadHistory(func(ctx context.Context, s ui.History) error { return f.sync(ctx, env, s) })
		},
	}
	f.declare(c)
	c.Flags().StringVar(&f.set, "set", "", "the `name` of these schedules in the service (default: the name of the project's folder, or user)")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show the differences, and change nothing")
	ui.OutputFlag(c, &f.output, "text", "json")
	return c
}

// sync compares the schedules with those of the service, and changes the latter.
func (f *syncFlags) sync(ctx context.Context, env *ui.Env, s timetable.Store) error {
	project := timetable.ProjectHere()
	set, err := f.setName(project)
	if err != nil {
		return err
	}
	l, err := f.dial(ctx, env)
	if err != nil {
		return err
	}
	defer l.Close()
	wanted, err := f.wanted(ctx, env, s, project, set, l)
	if err != nil {
		return err
	}
	server := schedule.At(l.Client, l.converter, set)
	found, err := server.List(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the schedules of the service: %w", err)
	}
	list := schedule.Compare(wanted, found)
	if err := f.print(env, list); err != nil || f.dryRun {
		return err
	}
	return schedule.Apply(ctx, server, list)
}

func (f *syncFlags) setName(project string) (string, error) {
	set := f.set
	switch {
	case set != "":
	case project == "":
		set = "user"
	default:
		set = filepath.Base(project)
	}
	if strings.ContainsAny(set, ": \t\n") {
		return "", ui.Usagef(nil, "invalid set %q: give a name without spaces and colons with --set", set)
	}
	return set, nil
}

// wanted returns the schedules of a project as Temporal carries them out.
func (f *syncFlags) wanted(ctx context.Context, env *ui.Env, s timetable.Store, project, set string, l *link) ([]schedule.Entry, error) {
	table, err := timetable.Read(ctx, s.Schedules(), env.Library())
	if err != nil {
		return nil, err
	}
	problems := table.Problems
	var list []schedule.Entry
	for _, e := range table.Entries {
		if e.Project != project {
			continue
		}
		if e.Trigger != nil {
			env.Notef("%s (%s) is left out: Temporal does not start it %s; flowrun serve does", e.Title, e.Source, e.When())
			continue
		}
		w, err := f.entry(ctx, env, s, e, schedule.IDPrefix(set), l)
		if err != nil {
			problems = append(problems, fmt.Sprintf("schedule %s (%s): %v", e.Title, e.Source, err))
			continue
		}
		list = append(list, w)
	}
	if len(problems) == 0 {
		return list, nil
	}
	for _, p := range problems {
		env.Notef("%s", p)
	}
	return nil, &ui.RefusedError{Reason: fmt.Sprintf("nothing was changed: Temporal cannot carry out %d of the schedules exactly", len(problems))}
}

func (f *syncFlags) entry(ctx context.Context, env *ui.Env, s timetable.Store, e timetable.Entry, prefix string, l *link) (w schedule.Entry, err error) {
	w = schedule.Entry{ID: prefix + e.Title, Paused: e.Paused, Floating: e.Spec.Interval() > 0 && e.Start.IsZero()}
	anchored, err := timetable.WithAnchor(ctx, s.Firings(), e)
	if err != nil {
		return w, err
	}
	if w.Timing, err = schedule.TimingOf(anchored, timetable.ZoneName(e.Spec.Zone()), time.Now()); err != nil {
		return w, err
	}
	in, err := f.input(env, e)
	if err != nil {
		return w, err
	}
	if w.Stamp, err = stampOf(e, in, l.queue); err != nil {
		return w, err
	}
	w.Action = &client.ScheduleWorkflowAction{ID: w.ID, Workflow: interpreter.WorkflowType, Args: []any{in}, TaskQueue: l.queue, Memo: in.Memo("")}
	return w, nil
}

// input returns the input of every run of a schedule. It has no id and no time: those of a run come from
// its workflow.
func (f *syncFlags) input(env *ui.Env, e timetable.Entry) (*interpreter.Input, error) {
	compiled, err := engine.Compile(env.Library(), e.Tool)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(compiled.Tools(), func(t plan.UsedTool) bool { return t.Definition.Security.ExecutionPrivilege == "elevated" }) {
		return nil, fmt.Errorf("the tool has elevated rights, which a person must approve for each run")
	}
	bound, err := compiled.Bind(engine.RunEnv{JavaScript: env.JavaScript()}, e.Params)
	if err != nil {
		return nil, err
	}
	settings, err := ui.RunSettings(env, ui.InteractionFlags{})
	if err != nil {
		return nil, err
	}
	if err := checkPlan(compiled, settings.Pools()); err != nil {
		return nil, err
	}
	record, err := bound.Record("", timetable.Origin(e.Name), launch.Enforcement(settings))
	if err != nil {
		return nil, err
	}
	record.Created, record.RunEnv.Time = time.Time{}, time.Time{}
	record.RunEnv.Workspace, record.RunEnv.Home, record.RunEnv.Temp = "", "", ""
	in := interpreter.NewInput(record, interpreter.Options{Parallel: cmp.Or(int(settings.Number("limits.max-parallel")), dag.DefaultParallel()),
		Cleanup: settings.Duration("limits.cleanup"), Pools: usedPools(compiled, settings.Pools())})
	return in, (&runFlags{connection: f.connection}).addSecrets(compiled, in, e.Params)
}

// stampOf describes what a schedule starts. It is the same for all machines with the same definitions.
func stampOf(e timetable.Entry, in *interpreter.Input, queue string) (s schedule.Stamp, err error) {
	params, err := json.Marshal(rawtext.EncodeMap(e.Params))
	if err != nil {
		return s, err
	}
	definitions, err := json.Marshal(in.Sources)
	s = schedule.Stamp{Tool: e.Tool, Params: string(params), Definitions: datastore.Digest(definitions), Queue: queue, Enforced: in.Record.Enforced}
	if len(in.Options.Pools) > 0 && err == nil {
		var pools []byte
		pools, err = json.Marshal(in.Options.Pools)
		s.Pools = string(pools)
	}
	return s, err
}

// print prints the differences.
func (f *syncFlags) print(env *ui.Env, list []schedule.Difference) error {
	if f.output == "json" {
		return ui.WriteJSON(env, struct {
			Schema    string                `json:"schema"`
			Schedules []schedule.Difference `json:"schedules"`
		}{"flowrun/schedule-sync.v1", list})
	}
	changes := 0
	for _, d := range list {
		if d.Kind == schedule.Keep {
			continue
		}
		changes++
		if _, err := fmt.Fprintf(env.Stdout, "%-6s %s\n", d.Kind, d.ID); err != nil {
			return err
		}
		for _, line := range d.Lines {
			if _, err := io.WriteString(env.Stdout, "         "+line+"\n"); err != nil {
				return err
			}
		}
	}
	if changes == 0 {
		env.Notef("the schedules of the service are up to date (%d)", len(list))
	}
	return nil
}
