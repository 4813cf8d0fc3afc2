package command

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
	"github.com/flowrun/flowrun/temporal/internal/remote"
	"github.com/flowrun/flowrun/temporal/internal/schedule"
)

// pruneFlags are the flags of flowrun-temporal prune.
type pruneFlags struct {
	connection
	olderThan time.Duration
	dryRun    bool
	output    string
}

func pruneCommand(env *ui.Env) *cobra.Command {
	var f pruneFlags
	c := &cobra.Command{
		Use:   "prune",
		Short: "Delete what no run uses from the store",
		Long: `Delete from the store, if it is a folder, the outputs and definitions that no run can use:
those that were last used before the oldest run that the service knows, and before
--older-than. What a Schedule starts is kept.

The command asks one namespace. If others share the store, --older-than must be longer
than their longest run and their retention. A bucket deletes by age itself: give it a
lifecycle rule.`,
		Example: `  flowrun-temporal prune --dry-run
  flowrun-temporal prune --store /shared/flowrun --older-than 90d`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.olderThan < margin {
				return ui.Usagef(c, "--older-than must be at least %s", margin)
			}
			return f.prune(env)
		},
	}
	f.declare(c)
	ui.DurationFlag(c, &f.olderThan, "older-than", 30*24*time.Hour, "keep what was used within this `time`")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "say what would be deleted, and delete nothing")
	ui.OutputFlag(c, &f.output, "text", "json")
	return c
}

// prunedJSON is the document flowrun/store-prune.v1.
type prunedJSON struct {
	Schema string    `json:"schema"`
	Before time.Time `json:"before"`
	datastore.Pruned
}

// margin is how much older than a run a value may be that the run uses.
const margin = datastore.RenewAfter + time.Hour

func (f *pruneFlags) prune(env *ui.Env) error {
	ctx := context.Background()
	l, err := f.dial(ctx, env)
	if err != nil {
		return err
	}
	defer l.Close()
	before := time.Now().Add(-f.olderThan)
	oldest, err := remote.New(l.Client, l.converter, l.texts, env.Library, l.queue, func(err error) { env.Notef("%v", err) }).Oldest(ctx)
	if err != nil {
		return err
	}
	if unused := oldest.Add(-margin); !oldest.IsZero() && unused.Before(before) {
		before = unused
	}
	if _, err := schedule.All(l.Client, l.converter).List(ctx); err != nil {
		return fmt.Errorf("cannot read the schedules of the service: %w", err)
	}
	p, err := datastore.Prune(l.store, before, f.dryRun)
	if err != nil {
		return fmt.Errorf("cannot prune the store: %w", err)
	}
	if f.output == "json" {
		return ui.WriteJSON(env, prunedJSON{"flowrun/store-prune.v1", before, p})
	}
	verb := "deleted"
	if f.dryRun {
		verb = "would delete"
	}
	_, err = fmt.Fprintf(env.Stdout, "%s %d values (%d bytes) that were last used before %s\n", verb, p.Values, p.Bytes, before.Local().Format(time.DateTime))
	return err
}
