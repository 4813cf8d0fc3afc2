package builtin

import (
	"context"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/tool"
)

// Config is what the tools may use.
type Config struct {
	// Roots are folders that file tools may work in, beside the workspace of the run. A
	// relative one counts from the workspace, ~ is the user's home; one that is missing
	// grants nothing.
	Roots []string
	// Fetch asks an address; nil: the web tools fail.
	Fetch func(context.Context, flowrun.FetchRequest) (*flowrun.FetchAnswer, error)

	Settings
}

// Tools are the definitions of all of them, for tool.Library.Provide. They may be used by
// several goroutines.
func Tools(c Config) []*tool.Definition {
	f := &files{granted: c.Roots, own: []string{c.ConfigDir, c.StateDir}}
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
