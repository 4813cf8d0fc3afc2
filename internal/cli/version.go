package cli

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

func versionCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if output == "json" {
				return json.NewEncoder(env.Stdout).Encode(struct {
					Schema string `json:"schema"`
					ui.Build
				}{"flowrun/version.v1", ui.ThisBuild()})
			}
			_, err := fmt.Fprintln(env.Stdout, ui.ThisBuild())
			return err
		},
	}
	ui.OutputFlag(c, &output, "text", "json")
	return c
}
