package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cron"
)

func (a *app) badCron(c *cobra.Command, e *cron.Error) error { return usage(e, c) }

func (a *app) printSlots(t timing, from time.Time, n int) error {
	for range n {
		from = t.next(from)
		fmt.Fprintln(a.Stdout, from)
	}
	return nil
}

func (a *app) tellOfService(project string) {}

func (a *app) scheduleCommand() *cobra.Command {
	c := group(&cobra.Command{Use: "schedule", Short: "Run tools by themselves at certain times"})
	c.AddCommand(a.scheduleAddCommand(), a.scheduleListCommand(), a.schedulePauseCommand(), a.scheduleResumeCommand(), a.scheduleRemoveCommand(), a.scheduleInstallCommand())
	return c
}
