package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// toolExportCommand writes a definition to a file or to stdout.
func toolExportCommand(env *ui.Env) *cobra.Command {
	var scopes page.Scope
	var output string
	format := definitionFormats[0]
	c := &cobra.Command{
		Use:               "export TOOL_NAME",
		Short:             "Export a tool definition to a file or standard output",
		Args:              page.OneTool,
		ValidArgsFunction: page.CompleteName(env),
		RunE: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("format") && strings.EqualFold(filepath.Ext(output), ".json") {
				format = "json"
			}
			def, err := findForOutput(env, c, args[0], &scopes, format)
			if err != nil {
				return err
			}
			if output == "" || output == "-" {
				return printDefinition(env, def, format)
			}
			text, err := definitionText(def, format)
			if err != nil {
				return err
			}
			if err = os.MkdirAll(filepath.Dir(output), 0o755); err == nil {
				err = atomicfile.Output(output, text, 0o644)
			}
			if err != nil {
				return fmt.Errorf("cannot export %q: %w", def.Name, err)
			}
			env.Notef("exported %s to %s", console.Clean(def.Name), output)
			return nil
		},
	}
	return page.Page{
		Title: "flowrun tool export",
		About: []string{"Export a tool definition to a file or standard output."},
		Usage: []string{"flowrun tool export TOOL_NAME [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("Export the tool from %s", "Export the tool from the first scope it's found in", ui.AnyScope),
			{Title: "OUTPUT OPTIONS", Lines: []page.Line{
				{Left: "--format yaml|json", Right: "Export format (default: by the extension of --output, else yaml)", Target: &format, Words: definitionFormats},
				{Left: "--output FILE", Right: "Output file (if omitted, prints to stdout)", Target: &output},
			}},
		},
		Examples: []page.Example{
			{Title: "Export a tool to stdout", Text: "flowrun tool export weather-lookup"},
			{Title: "Export a tool to a file in JSON format", Text: "flowrun tool export weather-lookup --output weather-lookup.json"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tool import", "flowrun help tools"},
	}.Apply(c)
}
