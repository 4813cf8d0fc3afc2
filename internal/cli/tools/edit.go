package tools

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/library"
)

// toolEditCommand edits the file of a tool.
func toolEditCommand(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	var editor string
	c := &cobra.Command{
		Use:               "edit TOOL_NAME",
		Short:             "Edit a tool definition",
		Args:              page.OneTool,
		ValidArgsFunction: page.CompleteName(env),
		RunE: func(c *cobra.Command, args []string) error {
			lib := env.Library()
			def, _, err := scopes.Find(c, lib, args[0])
			if err != nil {
				return err
			}
			if def.Source == nil {
				return ui.NoFileError(def, "edited")
			}
			words, err := editorWords(env, c, editor)
			if err != nil {
				return err
			}
			return editTool(env, lib, def, words)
		},
	}
	return page.Page{
		Title: "flowrun tool edit",
		About: []string{
			"Edit a tool definition using a text editor.",
			"",
			"The edited definition is checked first. If it has an error, the tool is not changed, and",
			"your text is stored as TOOL_NAME.yaml.rej in the state directory.",
		},
		Usage: []string{"flowrun tool edit TOOL_NAME [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("Edit the tool from %s", "Edit the tool from the first scope it's found in", ui.AnyScope),
			{Title: "EDITOR OPTIONS", Lines: []page.Line{
				{Left: "--editor EDITOR", Right: "Editor to use (default: $VISUAL, $EDITOR, else the system's)", Target: &editor, Words: []string{"nano", "vim", "emacs", "code"}},
			}},
		},
		Examples: []page.Example{
			{Title: "Edit a tool using the default editor", Text: "flowrun tool edit weather-lookup"},
			{Title: "Edit a tool using a specific editor", Text: "flowrun tool edit weather-lookup --editor code"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools"},
	}.Apply(c)
}

func editTool(env *ui.Env, lib *library.Library, def *tool.Definition, editor []string) error {
	path, err := filepath.Abs(def.File)
	if err != nil {
		return err
	}
	e := &editSession{name: def.Name, extension: storedExtension(def.File, def.Source), text: def.Source, editor: editor, check: func(text []byte) (tool.Diagnostics, string) {
		_, found := toolfiles.Check(lib, path, def.Scope, text, false)
		return found, path
	}}
	if !tool.ValidName(e.name) { // the name in an invalid file may be unusable as a file name
		e.name = "tool"
	}
	if err := edit(env, e); err != nil {
		return err
	}
	if bytes.Equal(e.text, def.Source) {
		env.Notef("nothing was changed")
		return nil
	}
	if err := atomicfile.Replace(path, def.Source, e.text); err != nil {
		saveRejected(env, e)
		var changed *atomicfile.ChangedError
		if errors.As(err, &changed) {
			return err
		}
		return fmt.Errorf("cannot write %s: %w", console.ShortPath(path), err)
	}
	fmt.Fprintf(env.Stdout, "changed %s (%s): %s\n", console.Clean(def.Name), def.Scope, console.ShortPath(path))
	return nil
}
