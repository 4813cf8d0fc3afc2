package tools

import (
	"fmt"

	"github.com/spf13/cobra"
)

// toolPage is help tool, of its commands in the order in which people meet them
// (S1-360).
func toolPage(commands []*cobra.Command) page {
	p := page{
		title: "flowrun tool commands",
		about: []string{"These commands allow you to manage tools: definitions in YAML that flowrun runs."},
		options: []optionGroup{{"SCOPE OPTIONS", []optionLine{
			{left: "--global, -g", right: "Manage tools from global scope (all users)"},
			{left: "--user, -u", right: "Manage tools from user scope (current user)"},
			{left: "--local, -l", right: "Manage tools from local scope (default for 'add' and 'import')"},
			{left: "--any, -a", right: "Manage tools from all scopes (default for all others)"},
			{left: "--scope SCOPE", right: "The same by name: local|user|global|any"},
		}}},
	}
	for _, sub := range commands {
		p.usage = append(p.usage, usageOf(sub))
		p.commands = append(p.commands, optionLine{left: sub.Name(), right: sub.Short})
		p.see = append(p.see, "flowrun help tool "+sub.Name())
	}
	p.see = append(p.see, "flowrun help tools")
	return p
}

// usageOf is one line of usage.
func usageOf(c *cobra.Command) string {
	scope := ""
	if c.Flags().Lookup("scope") != nil {
		scope = "[--scope] "
	}
	return fmt.Sprintf("flowrun tool %s %s[options]", c.Use, scope)
}

// toolsTopic is help tools: what tools are, where they are found, how they are used. It
// is no command and does nothing else (S1-370).
func toolsTopic() *cobra.Command {
	return page{
		title: "flowrun tools",
		about: []string{
			"A tool is a command, or a graph of steps, that is defined once as YAML and then run",
			"from a shell, inside a Go program, or by a language model.",
		},
		text: []string{
			`A DEFINITION
# weather-lookup.yaml
name: weather-lookup
description: Get weather for a location
bash: curl -s 'wttr.in/{LOCATION}?format={FORMAT}'
parameters:
  LOCATION: {description: City or airport code, required: true}
  FORMAT: {description: Output format, default: 3}
tags: [weather, api, read]

A value is data: {LOCATION} goes into the command as one word, whatever is in it.`,
			`SCOPES
local     .flowrun/tools in the working directory or above it, up to the root
          of the repository
user      flowrun/tools in $XDG_CONFIG_HOME (default ~/.config)
global    /etc/flowrun/tools ($FLOWRUN_GLOBAL_TOOLS)

A name means the first tool found in this order; it shadows those after it. In each
scope .cycod/tools is read too. A path (./deploy.yaml) is a tool without a scope.`,
			`A FIRST TOOL
flowrun tool add hello --bash 'echo "Hello, {NAME}"' --parameter NAME "Whom to greet" default=world
flowrun run hello NAME=Ada
flowrun tool edit hello
flowrun validate hello`,
		},
		see: []string{"flowrun help tool", "flowrun help tool add", "flowrun help run", "flowrun help validate"},
	}.on(&cobra.Command{Use: "tools", Short: "What tools are, and where they are found"})
}
