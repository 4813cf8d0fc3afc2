// Package past holds the commands that show recorded runs: ps, runs, show, diff, logs, artifacts, timeline,
// events, stats, and history, which also prunes.
//
// They read the history and print tables, text or JSON. They do not start runs and do not
// use an engine.
package past

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupInspect,
		ui.Named("ps", psCommand), ui.Named("runs", runsCommand), ui.Named("show", showCommand), ui.Named("diff", diffCommand), ui.Named("logs", logsCommand), ui.Named("artifacts", artifactsCommand),
		ui.Named("timeline", timelineCommand), ui.Named("events", eventsCommand), ui.Named("stats", statsCommand), ui.Named("history", historyCommand))
}

// OfEngines returns the names of the commands that read their runs with ui.ReadRuns, so that these can be runs of another
// engine than this machine's.
func OfEngines() []string {
	return []string{"runs", "show", "diff", "logs", "artifacts", "timeline", "events", "stats"}
}

// Whose runs the commands OfEngines show.
const (
	LocalEngine    = "local"
	TemporalEngine = "temporal"
	AllEngines     = "all"
)

func engines() []string { return []string{LocalEngine, TemporalEngine, AllEngines} }

// EngineFlag adds --engine to a command that is one OfEngines.
func EngineFlag(c *cobra.Command, to *string, value string) {
	c.Flags().StringVar(to, "engine", value, "show runs of this `engine`: local, temporal, or all for both")
	c.RegisterFlagCompletionFunc("engine", cobra.FixedCompletions(engines(), cobra.ShellCompDirectiveNoFileComp))
}

// CheckEngine checks the value of --engine.
func CheckEngine(value string) error { return ui.OneOf(nil, "engine", value, engines()) }
