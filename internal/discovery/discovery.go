package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/tool"
)

// Bounds of the command that tells of tools.
const (
	Limit           = 10 * time.Second // for all of it
	MaxDeclarations = 10 << 20         // bytes on each of its streams
)

// Config says which commands there are. Both are cut into words by the quoting of shells,
// and no shell sees them.
type Config struct {
	DiscoveryCommand string // prints the declarations
	CallCommand      string // calls a tool, whose name is added as the last word
	Dir              string // where both start: the root of the project
	StderrFails      bool   // whatever CallCommand prints as an error is a failure
}

// Check says what is wrong with the words of a command.
func Check(command string) error {
	_, err := expr.Words(command)
	return err
}

// Discover asks for tools. The warnings say which declarations were left out, and why. The
// error is why there are none at all; it is context.Cause(ctx) where ctx ended first.
// Whatever the command has started has ended when Discover returns.
func Discover(ctx context.Context, c Config) (tools []*tool.Definition, warnings []string, err error) {
	ask, err := expr.Words(c.DiscoveryCommand)
	if err != nil {
		return nil, nil, fmt.Errorf("tools.discoveryCommand: %w", err)
	}
	if c.CallCommand == "" {
		return nil, nil, errors.New("tools.discoveryCommand is set but tools.callCommand is not, so discovered tools could not be called")
	}
	call, err := expr.Words(c.CallCommand)
	if err != nil {
		return nil, nil, fmt.Errorf("tools.callCommand: %w", err)
	}
	printed, err := run(ctx, ask, c.Dir)
	if err != nil {
		return nil, nil, fmt.Errorf("tools.discoveryCommand (%q): %w", ask[0], err)
	}
	list, warnings, err := Read(printed)
	if err != nil {
		return nil, nil, fmt.Errorf("tools.discoveryCommand (%q): %w", ask[0], err)
	}
	for _, d := range list {
		tools = append(tools, d.definition(c, call))
	}
	return tools, warnings, nil
}

// definition is the declared tool.
func (d Declaration) definition(c Config, call []string) *tool.Definition {
	return tool.ProgramTool(d.Name, d.Description, d.Schema, tool.ProgramCall{Argv: append(slices.Clone(call), d.Name), Dir: c.Dir, StderrFails: c.StderrFails})
}
