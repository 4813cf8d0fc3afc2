package ui

import (
	"fmt"

	"github.com/flowrun/flowrun/tool"
)

// Unwritten is the answer of commands that need the file of a tool that has none.
func Unwritten(def *tool.Definition, done string) error {
	from := ""
	switch def.Scope {
	case tool.ScopeBuiltin:
		from = "is built in and "
	case tool.ScopeDiscovered:
		from = "is one that tools.discoveryCommand tells of, and "
	}
	return fmt.Errorf("the tool %q %shas no file that could be %s; flowrun tool schema %s shows what it takes", def.Name, from, done, def.Name)
}
