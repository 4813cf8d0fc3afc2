package ui

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// NoFileError returns the error of commands that need the file of a tool that is in no file.
func NoFileError(def *tool.Definition, done string) error {
	from := ""
	switch def.Scope {
	case tool.ScopeBuiltin:
		from = "is built in and "
	case tool.ScopeMCP:
		from = "comes from an MCP server and "
	case tool.ScopeDiscovered:
		from = "comes from tools.discoveryCommand and "
	}
	return fmt.Errorf("the tool %q %shas no file that can be %s; to see its parameters: flowrun tool schema %s", def.Name, from, done, shellword.Sh(def.Name))
}
