package tools

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/atomicfile"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
)

// toolExportCommand writes a definition to a file or to stdout (S1-335 to S1-337).
func toolExportCommand(env *ui.Env) *cobra.Command {
	var scopes scopeFlags
	var output string
	format := definitionFormats[0]
	c := &cobra.Command{
		Use:               "export TOOL_NAME",
		Short:             "Export a tool definition to a file or standard output",
		Args:              oneTool,
		ValidArgsFunction: completeName(env),
		RunE: func(c *cobra.Command, args []string) error {
			def, err := shown(env, c, args[0], &scopes, format)
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
			if err := atomicfile.Output(output, text, 0o644); err != nil {
				return fmt.Errorf("cannot export %q: %w", def.Name, err)
			}
			env.Notef("exported %s to %s", console.Clean(def.Name), output)
			return nil
		},
	}
	return page{
		title: "flowrun tool export",
		about: []string{"Export a tool definition to a file or standard output."},
		usage: []string{"flowrun tool export TOOL_NAME [--scope] [options]"},
		options: []optionGroup{
			scopes.options("Export the tool from %s", "Export the tool from the first scope it's found in", ui.AnyScope),
			{"OUTPUT OPTIONS", []optionLine{
				{left: "--format yaml|json", right: "Export format (default: yaml)", to: &format, words: definitionFormats},
				{left: "--output FILE", right: "Output file (if omitted, prints to stdout)", to: &output},
			}},
		},
		examples: []example{
			{"Export a tool to stdout", "flowrun tool export weather-lookup"},
			{"Export a tool to a file in JSON format", "flowrun tool export weather-lookup --format json --output weather-lookup.json"},
		},
		see: []string{"flowrun help tool", "flowrun help tool import", "flowrun help tools"},
	}.on(c)
}
