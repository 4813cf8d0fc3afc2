// Package past holds the commands that show recorded runs: ps, runs, show, diff, logs, artifacts, timeline,
// events, stats, and history, which also prunes.
//
// They read the history and print tables, text or JSON. They do not start runs and do not
// use an engine.
package past

import "github.com/flowrun/flowrun/internal/cli/ui"

// Commands returns the commands of this package.
func Commands() []ui.Command {
	return ui.InGroup(ui.GroupInspect,
		ui.Named("ps", psCommand), ui.Named("runs", runsCommand), ui.Named("show", showCommand), ui.Named("diff", diffCommand), ui.Named("logs", logsCommand), ui.Named("artifacts", artifactsCommand),
		ui.Named("timeline", timelineCommand), ui.Named("events", eventsCommand), ui.Named("stats", statsCommand), ui.Named("history", historyCommand))
}
