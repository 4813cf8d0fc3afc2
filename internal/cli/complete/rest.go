package complete

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// Rest completes what c and its subcommands say nothing of, by what their help calls it. Flags take files or folders if
// their value is one; other flags, and commands without arguments, take neither.
func Rest(c *cobra.Command) {
	if c.ValidArgsFunction == nil && !strings.Contains(c.Use, " ") {
		c.ValidArgsFunction = cobra.NoFileCompletions
	}
	for flag, value := range ui.ValueNames(c) {
		if _, set := c.GetFlagCompletionFunc(flag); !set {
			c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(nil, valueDirective(value)))
		}
	}
	for _, sub := range c.Commands() {
		Rest(sub)
	}
}

// valueDirective returns what a shell completes for a value, by its name in the help.
func valueDirective(name string) cobra.ShellCompDirective {
	switch name {
	case "file", "path", "pattern", "string", "stringArray": // the last two have no name in the help
		return cobra.ShellCompDirectiveDefault
	case "folder", "DIR":
		return cobra.ShellCompDirectiveFilterDirs
	}
	return cobra.ShellCompDirectiveNoFileComp
}
