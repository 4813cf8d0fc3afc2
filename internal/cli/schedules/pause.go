package schedules

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

func schedulePauseCommand(env *ui.Env) *cobra.Command {
	return toggleCommand(env, &cobra.Command{
		Use:   "pause NAME ... | --all",
		Short: "Pause schedules",
		Long: `Stop schedules from starting runs until flowrun schedule resume. This works for added
schedules and for those in definitions. Active runs continue.`,
		Example: `  flowrun schedule pause report
  flowrun schedule pause --all`,
	}, "paused", sqlite.Schedules.Pause)
}

func scheduleResumeCommand(env *ui.Env) *cobra.Command {
	return toggleCommand(env, &cobra.Command{
		Use:   "resume NAME ... | --all",
		Short: "Resume paused schedules",
		Long: `Let paused schedules start runs again. Times that passed while they were paused are
skipped, regardless of catch-up.`,
		Example: `  flowrun schedule resume report
  flowrun schedule resume --all`,
	}, "resumed", sqlite.Schedules.Resume)
}

// toggleCommand completes the commands pause and resume. done is the word for the result, and do
// changes one schedule and reports whether it was different before.
func toggleCommand(env *ui.Env, c *cobra.Command, done string, do func(sqlite.Schedules, context.Context, string) (bool, error)) *cobra.Command {
	var all bool
	c.Args = func(c *cobra.Command, args []string) error {
		if all == (len(args) > 0) {
			return ui.Usagef(c, "give the names of schedules, or --all")
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		return env.WriteHistory(func(ctx context.Context, s ui.History) error {
			list, err := namedSchedules(ctx, env, s, args, all)
			if err != nil {
				return err
			}
			for _, e := range list {
				changed, err := do(s.Schedules(), ctx, e.Name)
				switch {
				case err != nil:
					return err
				case changed:
					fmt.Fprintf(env.Stdout, "%s %s\n", done, e.Title)
				case !all:
					env.Notef("schedule %s is unchanged: it was already %s", e.Title, map[string]string{"paused": "paused", "resumed": "not paused"}[done])
				}
			}
			return nil
		})
	}
	c.Flags().BoolVar(&all, "all", false, "apply to all schedules that flowrun schedule list shows")
	c.ValidArgsFunction = completeSchedules(env)
	return c
}

func scheduleRemoveCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME ...",
		Short: "Remove added schedules",
		Long: `Remove schedules that were added with flowrun schedule add. Active runs continue, and the
history keeps earlier runs.`,
		Example:           `  flowrun schedule remove report`,
		ValidArgsFunction: completeSchedules(env),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return ui.Usagef(c, "missing argument: give the names of schedules; to list them: flowrun schedule list")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			return env.WriteHistory(func(ctx context.Context, s ui.History) error {
				list, err := namedSchedules(ctx, env, s, args, false)
				if err != nil {
					return err
				}
				for _, e := range list {
					if e.By == "" {
						return fmt.Errorf("cannot remove schedule %s: it is part of a definition; remove it from %s, or pause it: flowrun schedule pause %s", e.Title, e.Source, shellword.Sh(e.Title))
					}
				}
				for _, e := range list {
					if _, err := s.Schedules().Remove(ctx, e.Name); err != nil {
						return err
					}
					fmt.Fprintf(env.Stdout, "removed %s\n", e.Title)
				}
				return nil
			})
		},
	}
}

// namedSchedules returns the schedules that the arguments name, each by name or id; with all, every
// schedule.
func namedSchedules(ctx context.Context, env *ui.Env, s timetable.Store, words []string, all bool) ([]timetable.Entry, error) {
	t, err := timetable.Read(ctx, s.Schedules(), env.Library())
	if err != nil || all {
		return t.All(), err
	}
	var list []timetable.Entry
	for _, w := range words {
		e, err := findSchedule(t, w)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// completeSchedules completes the names of schedules.
func completeSchedules(env *ui.Env) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, prefix string) (words []string, d cobra.ShellCompDirective) {
		env.ReadHistory(func(ctx context.Context, s ui.History) error {
			t, err := timetable.Read(ctx, s.Schedules(), env.Library())
			for _, e := range t.All() {
				if strings.HasPrefix(e.Title, prefix) {
					words = append(words, complete.WithDescription(e.Title, e.Tool+", "+e.When()))
				}
			}
			return err
		})
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
