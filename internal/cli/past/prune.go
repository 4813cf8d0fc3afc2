package past

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/diskuse"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

func historyCommand(env *ui.Env) *cobra.Command {
	c := ui.Group(&cobra.Command{
		Use:   "history",
		Short: "Manage the history of runs",
		Long: `Manage the history of runs. It consists of the file history.db and the logs in the folder
runs. Both are in $FLOWRUN_STATE_DIR if it is set, else in $XDG_STATE_HOME/flowrun, by
default ~/.local/state/flowrun.`,
		Example: `  flowrun history prune --older-than 30d --dry-run
  flowrun history backup flowrun.tar.gz
  flowrun history audit`,
	})
	c.AddCommand(pruneCommand(env), backupCommand(env), restoreCommand(env), auditCommand(env))
	return c
}

func pruneCommand(env *ui.Env) *cobra.Command {
	var older, size string
	var keep int
	var dry bool
	c := &cobra.Command{
		Use:   "prune",
		Short: "Remove old runs with their logs and artifacts",
		Long: `Remove runs with their logs and artifacts from the history. The command removes every run
that exceeds any of the given limits. It never removes active runs. It also removes
artifacts whose retention has passed. You can stop it at any time, and continue later.`,
		Example: `  flowrun history prune --older-than 30d
  flowrun history prune --keep 1000 --max-size 2GB --dry-run`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			p := sqlite.Policy{Keep: keep, DryRun: dry}
			var err error
			if p.OlderThan, err = config.Age(older); err != nil {
				return ui.Usagef(c, "--older-than: %v", err)
			}
			if p.MaxSize, err = ui.ParseBytes(size); err != nil {
				return ui.Usagef(c, "--max-size: %v", err)
			}
			switch given := c.Flags().Changed; {
			case keep < 1 && given("keep"):
				return ui.Usagef(c, "--keep must be at least 1")
			case p.OlderThan == 0 && given("older-than"):
				return ui.Usagef(c, "--older-than must be more than 0")
			}
			if p.OlderThan == 0 && p.Keep == 0 && p.MaxSize == 0 {
				return ui.Usagef(c, "missing limit: give --older-than, --keep or --max-size")
			}
			return prune(env, p)
		},
	}
	fl := c.Flags()
	fl.StringVar(&older, "older-than", "", "remove runs that ended before this `age` (30d, 12h)")
	fl.IntVar(&keep, "keep", 0, "keep only the newest `n` runs")
	fl.StringVar(&size, "max-size", "", "keep at most this `size` on disk, including logs and artifacts (500MB, 2GB)")
	fl.BoolVar(&dry, "dry-run", false, "show what would be removed, without removing it")
	return c
}

func prune(env *ui.Env, p sqlite.Policy) error {
	dir, err := ui.StateDir()
	if err != nil {
		return err
	}
	p.Files, p.Progress = rundir.Kept{StateDir: dir}, env.Counter("removing run").Show
	return env.WriteHistory(func(ctx context.Context, s ui.History) error {
		before := takes(dir)
		stoppable, stop := context.WithCancelCause(ctx)
		signals := env.Signals(stop)
		defer signals.Stop()
		removed, err := s.Retention().Prune(stoppable, p)
		if code := signals.Code(); code != 0 {
			env.Notef("stopped after %s; to remove the rest, run the command again", plural.Of(len(removed.IDs), "run"))
			return ui.CodeError(code)
		}
		if p.DryRun {
			fmt.Fprintf(env.Stdout, "would remove %s, about %s\n", plural.Of(len(removed.IDs), "run"), ui.FormatBytes(removed.Bytes))
			return err
		}
		if err == nil {
			err = removeOrphanLogs(ctx, s, dir)
		}
		_, bad := artifact.Prune(dir, time.Now())
		fmt.Fprintf(env.Stdout, "removed %s, freed %s\n", plural.Of(len(removed.IDs), "run"), ui.FormatBytes(max(before-takes(dir), 0)))
		return errors.Join(err, bad)
	})
}

// takes returns how many bytes on disk the history takes, with all files of runs in the state directory.
func takes(state string) int64 {
	db := filepath.Join(state, "history.db")
	return diskuse.Of(db, db+"-wal", filepath.Join(state, "runs"), artifact.StoreFolder(state))
}

// removeOrphanLogs removes the log folders of runs that are not in the history, left by a prune
// that was interrupted. It keeps folders younger than a day, because they may belong to a run that
// is just starting.
func removeOrphanLogs(ctx context.Context, s history.Store, state string) error {
	entries, err := os.ReadDir(filepath.Join(state, "runs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		info, statErr := e.Info()
		if statErr != nil || !e.IsDir() || time.Since(info.ModTime()) < 24*time.Hour {
			continue
		}
		if _, known := s.Info(ctx, e.Name()); errors.Is(known, history.ErrNoRun) {
			err = errors.Join(err, rundir.Remove(state, e.Name()))
		}
	}
	return err
}
