package past

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/diskuse"
	"github.com/flowrun/flowrun/internal/service/backup"
)

// backupJSON is the document flowrun/backup.v1.
type backupJSON struct {
	Schema string `json:"schema"`
	Target string `json:"target"` // absolute path of the file or folder
	Runs   int    `json:"runs"`   // in the backup
	Bytes  int64  `json:"bytes"`  // that the backup takes on disk
}

func backupCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "backup FILE|DIR",
		Short: "Copy the history into a file or a folder",
		Long: `Copy the history, with the logs and artifacts of its runs and what tools have stored, into a
new file (tar, compressed with gzip) or into an empty folder. Runs and a service can go on
meanwhile. A run that is active at that moment is interrupted in the copy.

Caches, settings, trusted projects, users and tokens are not copied.`,
		Example: `  flowrun history backup flowrun-$(date +%F).tar.gz
  flowrun history backup /mnt/backup/flowrun/`,
		Args: oneTarget,
		RunE: func(_ *cobra.Command, args []string) error {
			state, err := ui.StateDir()
			if err != nil {
				return err
			}
			return env.ReadHistory(func(ctx context.Context, s ui.History) error {
				runs, err := backup.Write(ctx, s.File(), state, args[0])
				if err != nil {
					return nonEmpty(err, "choose another folder")
				}
				bytes := diskuse.Of(args[0])
				if output == "json" {
					target, err := filepath.Abs(args[0])
					return errors.Join(err, ui.WriteJSON(env, backupJSON{"flowrun/backup.v1", target, runs, bytes}))
				}
				fmt.Fprintf(env.Stdout, "backed up %s to %s, %s\n", plural.Of(runs, "run"), args[0], ui.FormatBytes(bytes))
				return nil
			})
		},
	}
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

func restoreCommand(env *ui.Env) *cobra.Command {
	var into string
	c := &cobra.Command{
		Use:   "restore FILE|DIR",
		Short: "Restore a history from a backup",
		Long: `Restore what flowrun history backup has copied into the state directory, or into the folder
--into. The target must be empty or not exist. The command checks the whole history, and that
every log and artifact is there that it names. If some are missing in the backup, it restores the
rest, names them, and exits with 1.

To use the restored history in a folder of its own, set FLOWRUN_STATE_DIR to it.`,
		Example: `  flowrun history restore flowrun-2026-11-29.tar.gz
  flowrun history restore flowrun-2026-11-29.tar.gz --into ~/old && FLOWRUN_STATE_DIR=~/old flowrun runs`,
		Args: oneTarget,
		RunE: func(_ *cobra.Command, args []string) error {
			state := into
			if state == "" {
				var err error
				if state, err = ui.MakeStateDir(); err != nil {
					return err
				}
			}
			r, err := backup.Restore(context.Background(), args[0], state)
			if err != nil {
				return nonEmpty(err, "move what is there away, or choose another folder with --into")
			}
			fmt.Fprintf(env.Stdout, "restored %s to %s; the history is undamaged, and %s that it names are there\n", plural.Of(r.Runs, "run"), state, plural.Of(r.Files, "file"))
			if r.Lost > 0 {
				env.Notef("%s", lostText(r))
				return ui.CodeError(outcome.ExitFailed)
			}
			return nil
		},
	}
	c.Flags().StringVar(&into, "into", "", "restore into this `folder` instead of the state directory")
	c.MarkFlagDirname("into")
	return c
}

// lostText names the files that are missing in a backup.
func lostText(r backup.Restored) string {
	verb := "are"
	if r.Lost == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%s that the history names %s missing in the backup: %s", plural.Of(r.Lost, "file"), verb, strings.Join(r.Missing, ", "))
	if more := r.Lost - len(r.Missing); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// oneTarget is the argument check of commands that take a file or a folder.
func oneTarget(c *cobra.Command, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return ui.Usagef(c, "give one file or folder")
	}
	return nil
}

// nonEmpty adds the way out to an error about a folder that is not empty, or a file that exists.
func nonEmpty(err error, wayOut string) error {
	if full := new(backup.NotEmptyError); errors.As(err, &full) {
		return fmt.Errorf("%w; %s", err, wayOut)
	}
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%w; choose another name", err)
	}
	return err
}
