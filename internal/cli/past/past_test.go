package past

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// command runs a command line with the runs of a store, and returns what it printed.
func command(s history.Store, line ...string) (stdout, stderr string, err error) {
	var out, notes bytes.Buffer
	env := &ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &notes}}
	env.Remote = func(_ context.Context, f func(history.Store) error) error { return f(s) }
	env.Engine = engines.Temporal
	root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	root.SetOut(io.Discard)
	for _, own := range []func(*ui.Env) *cobra.Command{psCommand, runsCommand, showCommand, diffCommand, logsCommand, artifactsCommand, timelineCommand, eventsCommand, statsCommand, historyCommand} {
		root.AddCommand(own(env))
	}
	root.SetArgs(line)
	err = root.Execute()
	return out.String(), notes.String(), err
}

// TestUsage holds which command lines are refused before the history is read.
func TestUsage(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"runs --limit -1", "--limit must be at least 1, or 0 for all"},
		{"runs --status failed,odd", `--status: unknown state "odd"; the states are running, pending, waiting, succeeded, failed, cancelled, timed-out, interrupted`},
		{"runs --since soon", `--since: "soon" is not a duration; write 30d, 12h or 1h30m, a date (2026-12-01) or a time (RFC 3339: 2026-12-01T08:00:00Z)`},
		{"runs --until soon", `--until: "soon" is not a duration`},
		{"runs --param REGION", `--param "REGION" has no name and value; write it as NAME=VALUE`},
		{"runs -o xml", "xml"},
		{"runs all", "all"},
		{"show", "give one run: an id, a unique prefix of it, or latest"},
		{"show latest --definition -o json", "--definition prints text"},
		{"diff", "give one run or two"},
		{"diff a b c", "give one run or two"},
		{"logs", "give a run, and optionally one of its steps"},
		{"logs latest a b", "give a run, and optionally one of its steps"},
		{"logs latest --attempt 0", "--attempt must be at least 1"},
		{"logs latest --since soon", "--since: \"soon\" is not a duration"},
		{"logs latest --grep (", "--grep: error parsing regexp"},
		{"artifacts", "give a run, and optionally the name of an artifact"},
		{"artifacts latest --to -", "--to - needs the name of an artifact"},
		{"stats a b", "give the name or file of one tool"},
		{"stats a --limit -1", "--limit must be at least 1, or 0 for all"},
		{"stats a --since soon", "--since: "},
		{"stats a --recent 0", "--recent must be at least 1"},
		{"history audit --limit -1", "--limit must be at least 1, or 0 for all"},
		{"history prune", "missing limit: give --older-than, --keep or --max-size"},
		{"history prune --dry-run", "missing limit"},
		{"history prune --keep 0", "--keep must be at least 1"},
		{"history prune --keep -1 --older-than 1d", "--keep must be at least 1"},
		{"history prune --older-than 0 --keep 5", "--older-than must be more than 0"},
		{"history prune --older-than soon", `--older-than: "soon" is not a duration`},
		{"history prune --max-size much", `"much"; write it as in 500MB, 2GB or 1GiB`},
		{"history prune all", "all"},
	} {
		_, _, err := command(history.NewMemory(), strings.Fields(c.line)...)
		if !errors.As(err, new(*ui.UsageError)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.line, err, c.want)
		}
	}
}
