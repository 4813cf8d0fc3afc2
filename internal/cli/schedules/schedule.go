package schedules

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/cron"
)

func scheduleCommand(env *ui.Env) *cobra.Command {
	c := ui.Group(&cobra.Command{
		Use:   "schedule",
		Short: "Run tools on a schedule",
		Long: `Run tools on a schedule, exactly once for each scheduled time. A schedule is part of a
definition (schedule: "0 7 * * 1-5"), or you add it with flowrun schedule add. flowrun serve
starts the tools. If it was not running at a scheduled time, catch-up decides whether it
runs the tool later.`,
		Example: `  flowrun schedule add report --cron "0 7 * * 1-5" --timezone Europe/Zurich
  flowrun schedule list
  flowrun schedule next report
  flowrun schedule backfill report --from 2026-09-01 --to 2026-10-01
  flowrun schedule install`,
	})
	c.AddCommand(scheduleAddCommand(env), scheduleListCommand(env), scheduleNextCommand(env), schedulePauseCommand(env), scheduleResumeCommand(env),
		scheduleRemoveCommand(env), scheduleBackfillCommand(env), scheduleInstallCommand(env))
	return c
}

// cronUsageError returns a usage error for an invalid cron expression, which marks each problem at
// its location.
func cronUsageError(c *cobra.Command, e *cron.Error) error {
	var b strings.Builder
	b.WriteString("invalid cron expression")
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %s\n  %s%s\n  %s", e.Text, strings.Repeat(" ", utf8.RuneCountInString(e.Text[:p.Off])),
			strings.Repeat("^", max(1, utf8.RuneCountInString(e.Text[p.Off:p.Off+p.Len]))), p)
	}
	return ui.Usage(errors.New(b.String()), c)
}

// reportNoService prints how to start a service, if none runs that could fire the added schedule.
func reportNoService(env *ui.Env, project string) {
	dir, err := ui.StateDir()
	if err != nil || ui.ServiceRunning(dir) {
		return
	}
	where := ""
	if project != "" {
		where = " in " + project
	}
	env.Notef("no service is running, so the schedule will not run; start one%s: flowrun serve, or install one: flowrun schedule install", where)
}
