package discovery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/program"
)

// Limits of the command that lists tools.
const (
	Limit           = 10 * time.Second // for the whole command
	MaxDeclarations = 10 << 20         // bytes of each of its streams
)

// step is the step to which its processes belong.
const step = "@discovery"

// Config names the commands. Both are split into words by the quoting rules of shells, but
// run without a shell.
type Config struct {
	DiscoveryCommand string // prints the declarations
	CallCommand      string // calls a tool, whose name is added as the last word
	Dir              string // working directory of both: the root of the project
	StderrFails      bool   // a call fails if it prints to standard error
}

// Check returns an error if the words of a command cannot be parsed.
func Check(command string) error {
	_, err := expr.Words(command)
	return err
}

// Discover runs the discovery command and returns its tools. The warnings say which
// declarations were ignored, and why. The error says why there are no tools at all; it is
// context.Cause(ctx) if ctx ended first. All processes of the command have ended when
// Discover returns.
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
	printed, err := program.Call{Argv: ask, Dir: c.Dir, Step: step, Domain: procid.DomainOf(engine.DefaultStateDir()), Limit: Limit, MaxOutput: MaxDeclarations}.Run(ctx)
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

// definition returns the definition of the declared tool.
func (d Declaration) definition(c Config, call []string) *tool.Definition {
	return tool.ProgramTool(d.Name, d.Description, d.Schema, tool.ProgramCall{Argv: append(slices.Clone(call), d.Name), Dir: c.Dir, StderrFails: c.StderrFails})
}
