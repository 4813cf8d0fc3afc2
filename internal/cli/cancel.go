package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/sqlite"
)

func (a *app) cancelCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "cancel RUN",
		Short: "Stop a run that another process executes",
		Long: `Ask the process that executes a run to stop it, as Ctrl-C there would: steps are
stopped, cleanup runs. The command does not wait for that.`,
		Example: "  flowrun cancel latest",
		Args:    oneRun,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.writing(func(ctx context.Context, s *sqlite.Store) error {
				id, err := findRun(ctx, s, args[0])
				if err != nil {
					return err
				}
				info, err := s.Info(ctx, id)
				if err != nil {
					return err
				}
				switch info.Status {
				case dag.Running, dag.Pending:
					if err := s.Cancel(ctx, id, "cancelled by flowrun cancel"); err != nil {
						return err
					}
					a.say("asked run %s to stop; flowrun show %s tells how it ends", id, id)
				case dag.Interrupted:
					if dir, err := stateDir(); err == nil && info.Origin != "" && serviceLives(dir) {
						a.say("run %s is not running: its engine has gone; the service takes it up, unless a person has to say so first (flowrun resume %s)", id, id)
						return nil
					}
					a.say("run %s is not running: its engine has gone; flowrun resume %s goes on with it", id, id)
				case dag.Waiting:
					a.say("run %s is not running: it rests until it is answered; flowrun reject %s says no", id, id)
				default:
					a.say("run %s is over: it is %s", id, info.Status)
				}
				return nil
			})
		},
		ValidArgsFunction: a.completeRunID,
	}
}
