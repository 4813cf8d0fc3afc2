// Package servers holds the commands about MCP servers whose tools are tools of flowrun: flowrun mcp
// list, tools, test, add, remove, login and logout. Package internal/service/mcp connects and calls them.
package servers

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/model/servername"
	"github.com/flowrun/flowrun/internal/service/config"
)

// Commands returns the commands of this package, which belong to flowrun mcp.
func Commands(env *ui.Env) []*cobra.Command {
	return []*cobra.Command{listCommand(env), toolsCommand(env), testCommand(env), addCommand(env), removeCommand(env), loginCommand(env), logoutCommand(env)}
}

// missing returns the error for a server that the settings do not declare, or that is ignored.
func missing(c *config.Config, name string) error {
	for _, s := range ui.IgnoredServers(c) {
		if s.Name == name {
			return fmt.Errorf("the MCP server %q is not used, because %s", name, s.Why)
		}
	}
	var names []string
	for _, s := range ui.ServerConfigs(c) {
		if s.Name == servername.Of(name) {
			return ui.Missing(fmt.Errorf("there is no MCP server %q; the server with this name in the settings is %s", name, s.Name))
		}
		names = append(names, s.Name)
	}
	return ui.Missing(fmt.Errorf("there is no MCP server %q%s; to list them: flowrun mcp list", name, ui.NearestAs("; did you mean %q?", name, names)))
}

// known returns an error if the settings do not declare a server.
func known(c *config.Config, names []string) error {
	declared := ui.ServerConfigs(c)
	for _, name := range names {
		if !slices.ContainsFunc(declared, func(s mcpclient.ServerConfig) bool { return s.Name == name }) {
			return missing(c, name)
		}
	}
	return nil
}

// statuses returns the status of the named servers, or of all.
func statuses(env *ui.Env, names []string) ([]mcpclient.Status, error) {
	c, err := ui.LoadSettings(false)
	if err != nil {
		return nil, err
	}
	if err := known(c, names); err != nil {
		return nil, err
	}
	var list []mcpclient.Status
	env.WithServers(func(client *mcpclient.Client) {
		if len(names) == 0 {
			list = client.Statuses()
		}
		for _, name := range names {
			if s, ok := client.Status(name); ok {
				list = append(list, s)
			}
		}
	})
	return list, nil
}

// completeServer completes the name of a server.
func completeServer(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var names []string
	if c, err := ui.LoadSettings(false); err == nil {
		for _, s := range ui.ServerConfigs(c) {
			names = append(names, s.Name)
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// oneServer checks that the only argument is a server.
func oneServer(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return ui.Usagef(c, "give the name of one server")
	}
	return nil
}
