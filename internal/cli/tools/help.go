package tools

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
)

// toolPage returns the page of flowrun help tool. It lists the commands in the given order.
func toolPage(commands []*cobra.Command) page.Page {
	p := page.Page{
		Title: "flowrun tool commands",
		About: []string{"These commands manage tools, the definitions that flowrun runs."},
		Options: []page.Group{{Title: "SCOPE OPTIONS", Lines: []page.Line{
			{Left: "--global, -g", Right: "Manage tools from global scope (all users)"},
			{Left: "--user, -u", Right: "Manage tools from user scope (current user)"},
			{Left: "--local, -l", Right: "Manage tools from local scope (default for 'add' and 'import')"},
			{Left: "--any, -a", Right: "Manage tools from all scopes (default for all others)"},
			{Left: "--scope SCOPE", Right: "Choose the scope by name: local|user|global|any"},
		}}},
	}
	for _, sub := range commands {
		p.Usage = append(p.Usage, usageOf(sub))
		p.Commands = append(p.Commands, page.Line{Left: sub.Name(), Right: sub.Short})
		p.SeeAlso = append(p.SeeAlso, "flowrun help tool "+sub.Name())
	}
	p.SeeAlso = append(p.SeeAlso, "flowrun help tools")
	return p
}

// usageOf returns the usage line of a command.
func usageOf(c *cobra.Command) string {
	scope := ""
	if c.Flags().Lookup("scope") != nil {
		scope = "[--scope] "
	}
	return fmt.Sprintf("flowrun tool %s %s[options]", c.Use, scope)
}

// Topic returns the topic flowrun help tools: what tools are, where they are found, how they are
// used. It is only a help page, not a command.
func Topic(*ui.Env) *cobra.Command {
	return page.Page{
		Title: "flowrun tools",
		About: []string{
			"A tool is a command, or a graph of steps. You define it once and run it from a shell, on a",
			"schedule, over HTTP, from a language model or in a Go program.",
		},
		Text: []string{
			`A DEFINITION
# weather-lookup.yaml
name: weather-lookup
description: Get weather for a location
bash: curl -s 'wttr.in/{LOCATION}?format={FORMAT}'
parameters:
  LOCATION: {description: City or airport code, required: true}
  FORMAT: {description: Output format, default: 3}
tags: [weather, api, read]

A value is data: {LOCATION} reaches the command as one word, whatever it contains.`,
			`SCOPES
local     .flowrun/tools in the working directory or above it, up to the root
          of the repository
user      flowrun/tools in $XDG_CONFIG_HOME (default ~/.config)
global    /etc/flowrun/tools ($FLOWRUN_GLOBAL_TOOLS)

flowrun searches the scopes in this order. The first tool of a name shadows the others. In
the local and the user scope, it also reads the folder .cycod/tools of the assistant cycod.
A path (./deploy.yaml) needs no scope.`,
			`A FIRST TOOL
flowrun tool add hello --bash 'echo "Hello, {NAME}"' --parameter NAME "Whom to greet" default=world
flowrun run hello NAME=Ada
flowrun tool edit hello
flowrun validate hello`,
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tool add", "flowrun help run", "flowrun help validate"},
	}.Apply(&cobra.Command{Use: "tools", Short: "What tools are, and where flowrun finds them"})
}
