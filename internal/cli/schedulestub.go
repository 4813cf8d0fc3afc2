package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cron"
	"github.com/flowrun/flowrun/internal/schedule"
)

// badCron is the error of a cron expression on the command line, with every problem under
// its place.
func (a *app) badCron(c *cobra.Command, e *cron.Error) error {
	var b strings.Builder
	b.WriteString("cannot follow the cron expression")
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n  %s\n  %s%s\n  %s", e.Text, strings.Repeat(" ", utf8.RuneCountInString(e.Text[:p.Off])),
			strings.Repeat("^", max(1, utf8.RuneCountInString(e.Text[p.Off:p.Off+p.Len]))), p)
	}
	return usage(errors.New(b.String()), c)
}

func (a *app) printSlots(t schedule.Schedule, from time.Time, n int) error {
	for range n {
		from = t.Next(from)
		fmt.Fprintln(a.Stdout, "  "+from.Format(time.RFC3339))
	}
	return nil
}

func (a *app) tellOfService(project string) {}

func (a *app) scheduleCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "schedule", Short: "Run tools by themselves at certain times"})
	c.AddCommand(a.scheduleAddCommand(), a.scheduleListCommand(), a.scheduleNextCommand(), a.schedulePauseCommand(), a.scheduleResumeCommand(), a.scheduleRemoveCommand(), a.scheduleInstallCommand())
	return c
}
