package builtin

import (
	"context"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/tool"
)

// Config is what the tools may use.
type Config struct {
	// Roots are folders that file tools may work in, beside the workspace of the run.
	Roots []string
	// Fetch asks an address; nil: the web tools fail.
	Fetch func(context.Context, flowrun.FetchRequest) (*flowrun.FetchAnswer, error)

	Settings
}

// Tools are the definitions of all of them, for tool.Library.Provide.
func Tools(c Config) []*tool.Definition {
	return []*tool.Definition{
		runShellCommand(c),
		webFetch(c),
		webSearch(c),
		saveMemory(c),
		todoWrite(c),
		task(c),
		exitPlanMode(),
	}
}
