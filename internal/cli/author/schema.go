package author

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/docs"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/service/config"
)

func schemaCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "schema NAME",
		Short: "Print the JSON Schema of a document",
		Long: `Print a JSON Schema: of tool definitions (draft-07, for editors), of config.yaml (draft-07),
or of a document that flowrun prints (2020-12).

Names:
` + nameLines(schemaNames()),
		Example: `  flowrun schema tool > tool.schema.json
  flowrun schema run`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "give one of %s", strings.Join(schemaNames(), ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			text, err := schema(args[0])
			if err != nil {
				return ui.Usage(err, c)
			}
			_, err = env.Stdout.Write(text)
			return err
		},
		ValidArgsFunction: cobra.FixedCompletions(schemaNames(), cobra.ShellCompDirectiveNoFileComp),
	}
}

// configSchema names the schema of config.yaml. Package docs does not know it, because only the
// command line has configuration files.
const configSchema = "config"

func schemaNames() []string { return append(docs.SchemaNames(), configSchema) }

// nameLines returns the names in indented lines of the width of a help text.
func nameLines(names []string) string {
	var b strings.Builder
	width := 0
	for i, name := range names {
		if width == 0 || width+len(name) > 84 {
			b.WriteString("\n ")
			width = 1
		}
		b.WriteString(" " + name)
		width += len(name) + 2
		if i < len(names)-1 {
			b.WriteByte(',')
		}
	}
	return b.String()
}

func schema(name string) ([]byte, error) {
	switch {
	case name == configSchema:
		return config.Schema()
	case !slices.Contains(schemaNames(), name):
		return nil, fmt.Errorf("unknown schema %q: use one of %s", name, strings.Join(schemaNames(), ", "))
	}
	return docs.Schema(name)
}
