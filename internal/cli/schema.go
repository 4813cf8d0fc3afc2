package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema NAME",
		Short: "Print the JSON Schema of a document",
		Long: `Print a JSON Schema: of the definition of a tool (draft-07, for editors), or of a
document that flowrun prints (2020-12).

Names: ` + strings.Join(flowrun.SchemaNames(), ", "),
		Example: `  flowrun schema tool > tool.schema.json
  flowrun schema run`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(c, "give one of %s", strings.Join(flowrun.SchemaNames(), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			text, err := flowrun.Schema(args[0])
			if err != nil {
				return usage(err, c)
			}
			_, err = a.Stdout.Write(text)
			return err
		},
		ValidArgsFunction: cobra.FixedCompletions(flowrun.SchemaNames(), cobra.ShellCompDirectiveNoFileComp),
	}
}
