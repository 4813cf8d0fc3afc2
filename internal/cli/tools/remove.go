package tools

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/atomicfile"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/tool"
)

// toolRemoveCommand deletes the file of a tool (S1-351, S1-352).
func toolRemoveCommand(env *ui.Env) *cobra.Command {
	var scopes scopeFlags
	var force bool
	c := &cobra.Command{
		Use:               "remove TOOL_NAME",
		Short:             "Delete a tool",
		Args:              oneTool,
		ValidArgsFunction: completeName(env),
		RunE: func(c *cobra.Command, args []string) error {
			scope, err := scopes.scope(c, ui.AnyScope)
			if err != nil {
				return err
			}
			lib := env.Library()
			def, _, err := find(lib, args[0], scope)
			switch {
			case err != nil:
				return err
			case def.Scope == tool.ScopeFile:
				return ui.Usagef(c, "%s is a file, not the name of a tool in a scope; delete it as a file", args[0])
			case def.File == "":
				return ui.Unwritten(def, "removed")
			case !force && !env.HasPerson():
				return ui.Usagef(c, "removing %s asks first, and there is no terminal to ask on; give --force", ui.ShortPath(def.File))
			case !force && !env.AskYesNo(fmt.Sprintf("remove %s (%s), %s?", console.Clean(def.Name), def.Scope, ui.ShortPath(def.File)), false):
				env.Notef("nothing was removed")
				return ui.CodeError(ui.ExitFailed)
			}
			return remove(env, lib, def, args[0])
		},
	}
	return page{
		title: "flowrun tool remove",
		about: []string{"Delete a tool from a specific scope. Asks first; without a terminal to ask on, --force", "is needed."},
		usage: []string{"flowrun tool remove TOOL_NAME [--scope] [options]"},
		options: []optionGroup{
			scopes.options("Delete the tool from %s", "Delete the tool from the first scope it's found in", ui.AnyScope),
			{"ADDITIONAL OPTIONS", []optionLine{{left: "--force", right: "Skip confirmation prompt", to: &force}}},
		},
		examples: []example{
			{"Delete a tool from any scope", "flowrun tool remove weather-lookup"},
			{"Delete a tool from user scope", "flowrun tool remove weather-lookup --user"},
			{"Delete a tool without confirmation", "flowrun tool remove weather-lookup --force"},
		},
		see: []string{"flowrun help tool", "flowrun help tools"},
	}.on(c)
}

func remove(env *ui.Env, lib *tool.Library, def *tool.Definition, name string) error {
	if err := atomicfile.Remove(def.File); err != nil {
		return fmt.Errorf("cannot remove %q: %w", name, err)
	}
	fmt.Fprintf(env.Stdout, "removed %s (%s): %s\n", console.Clean(def.Name), def.Scope, ui.ShortPath(def.File))
	if next, _, err := lib.Lookup(name, nil); err == nil {
		env.Notef("note: %s now means the tool in the %s scope, %s", name, next.Scope, ui.ShortPath(next.File))
	}
	return nil
}
