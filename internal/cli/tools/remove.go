package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/timetable"
	"github.com/flowrun/flowrun/library"
)

// toolRemoveCommand deletes the file of a tool.
func toolRemoveCommand(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	var force bool
	c := &cobra.Command{
		Use:               "remove TOOL_NAME",
		Short:             "Delete a tool",
		Args:              page.OneTool,
		ValidArgsFunction: page.CompleteName(env),
		RunE: func(c *cobra.Command, args []string) error {
			lib := env.Library()
			def, _, err := scopes.Find(c, lib, args[0])
			switch {
			case err != nil:
				return err
			case def.Scope == tool.ScopeFile:
				return ui.Usagef(c, "%s is a file, not the name of a tool; delete the file instead", args[0])
			case def.File == "":
				return ui.NoFileError(def, "removed")
			case !force && !env.HasPerson():
				return ui.Usagef(c, "cannot ask before removing %s, because no terminal is available; use --force", console.ShortPath(def.File))
			case !force && !env.AskYesNo(fmt.Sprintf("remove %s (%s), %s?", console.Clean(def.Name), def.Scope, console.ShortPath(def.File)), false):
				env.Notef("nothing was removed")
				return ui.CodeError(outcome.ExitFailed)
			}
			return remove(env, lib, def, args[0])
		},
	}
	return page.Page{
		Title: "flowrun tool remove",
		About: []string{"Delete a tool from a specific scope. The command asks first. Without a terminal, use --force."},
		Usage: []string{"flowrun tool remove TOOL_NAME [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("Delete the tool from %s", "Delete the tool from the first scope it's found in", ui.AnyScope),
			{Title: "ADDITIONAL OPTIONS", Lines: []page.Line{{Left: "--force", Right: "Skip confirmation prompt", Target: &force}}},
		},
		Examples: []page.Example{
			{Title: "Delete a tool from any scope", Text: "flowrun tool remove weather-lookup"},
			{Title: "Delete a tool from user scope", Text: "flowrun tool remove weather-lookup --user"},
			{Title: "Delete a tool without confirmation", Text: "flowrun tool remove weather-lookup --force"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
}

func remove(env *ui.Env, lib *library.Library, def *tool.Definition, name string) error {
	if err := atomicfile.Remove(def.File); err != nil {
		return fmt.Errorf("cannot remove %q: %w", name, err)
	}
	lock := bundle.LockFile(def.File)
	if rest, _ := filepath.Glob(strings.TrimSuffix(lock, ".lock") + ".*"); strings.HasSuffix(lock, ".tool.lock") && slices.Equal(rest, []string{lock}) {
		if err := atomicfile.Remove(lock); err != nil {
			return fmt.Errorf("removed %q, but not the lock file of its packages: %w", name, err)
		}
	}
	fmt.Fprintf(env.Stdout, "removed %s (%s): %s\n", console.Clean(def.Name), def.Scope, console.ShortPath(def.File))
	if next, _, err := lib.Lookup(name, nil); err == nil {
		env.Notef("note: %s now refers to the tool in the %s scope, %s", name, next.Scope, console.ShortPath(next.File))
	}
	return noteSchedules(env, def.Name)
}

// noteSchedules names the added schedules that cannot run without a tool that was removed.
func noteSchedules(env *ui.Env, name string) error {
	return env.ReadHistory(func(ctx context.Context, s ui.History) error {
		t, err := timetable.Read(ctx, s.Schedules(), env.Library())
		if err != nil {
			return err
		}
		for _, e := range t.OfTool(name) {
			if text := e.MissingTool(); text != "" {
				env.Notef("warning: %s", text)
			}
		}
		return nil
	})
}
