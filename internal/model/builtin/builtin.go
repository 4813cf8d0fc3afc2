package builtin

import (
	"context"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Config sets what the tools may use.
type Config struct {
	// Roots are the folders in which file tools may work, beside the workspace of the run. A relative one starts at
	// the workspace, ~ is the user's home; one that does not exist grants nothing.
	Roots []string
	// Fetch sends HTTP requests. If it is nil, the web tools fail.
	Fetch func(context.Context, call.FetchRequest) (*call.FetchAnswer, error)

	Settings
}

// Tools returns the definitions of all built-in tools, for library.Library.Provide. They are safe for concurrent use.
func Tools(c Config) []*tool.Definition {
	f := &files{granted: c.Roots, ownFolders: []string{c.ConfigDir, c.StateDir}}
	return []*tool.Definition{
		f.listDirectory().Definition(),
		f.readFile().Definition(),
		f.writeFile().Definition(),
		f.readManyFiles().Definition(),
		f.glob().Definition(),
		f.grepSearch().Definition(),
		f.edit().Definition(),
		runShellCommand(c),
		webFetch(c),
		webSearch(c),
		saveMemory(c),
		todoWrite(c),
		task(c),
		exitPlanMode(),
	}
}
