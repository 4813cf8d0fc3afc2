package cli

import (
	"github.com/spf13/cobra"
)

// toolValidateCommand checks tools of a scope (S1-330 to S1-332, S1-369).
func (env *Env) toolValidateCommand() *cobra.Command {
	var f validateFlags
	var scopes scopeFlags
	var every bool
	c := &cobra.Command{
		Use:               "validate TOOL_NAME",
		Short:             "Validate a tool definition for correctness",
		ValidArgsFunction: env.completeNames,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			scope, err := scopes.scope(c, anyScope)
			if err != nil {
				return err
			}
			if (len(args) == 0) != every {
				return usagef(c, "which tool? Give names, or --all for every one in the scope")
			}
			targets, err := env.scoped(args, scope)
			if err != nil {
				return err
			}
			return env.validate(targets, closed(env.library(), args, scope), f)
		},
	}
	scopes.declare(c)
	c.Flags().BoolVar(&every, "all", false, "")
	f.define(c)
	return page{
		title: "flowrun tool validate",
		about: []string{"Validate a tool definition for correctness. Exits 3 when it has an error, and 4 when", "there is no such tool in the scope."},
		usage: []string{"flowrun tool validate TOOL_NAME [--scope] [options]", "flowrun tool validate --all [--scope] [options]"},
		options: []optionGroup{
			scopeGroup("Validate the tool from %s", "Validate the tool from the first scope it's found in", anyScope),
			{"VALIDATION OPTIONS", []optionLine{
				{left: "--fix", right: "Fix validation issues if possible; never changes what a tool means"},
				{left: "--dry-run", right: "With --fix: show the changes as a diff, and write nothing", depth: 1},
				{left: "--detailed", right: "Show detailed validation results: notes on better practice"},
				{left: "--strict", right: "Count warnings as errors"},
				{left: "--against PATH", right: "Tell what breaks callers of the older definitions there"},
				{left: "--all", right: "Validate every tool in the scope"},
			}},
			{"OUTPUT OPTIONS", []optionLine{
				{left: "--output, -o FORM", right: "Form of the results: text|json|github|sarif (default: text)"},
				{left: "--limit N", right: "Show at most N problems as text; 0 is all (default: 20)"},
			}},
		},
		examples: []example{
			{"Validate a tool", "flowrun tool validate weather-lookup"},
			{"Validate and automatically fix issues", "flowrun tool validate weather-lookup --fix"},
		},
		see: []string{"flowrun help tool", "flowrun help tools", "flowrun help explain"},
	}.on(c)
}

// scoped are the tools of a scope that args name; without args, all of it.
func (env *Env) scoped(args []string, scope string) ([]target, error) {
	lib := env.library()
	if scope == anyScope {
		return env.targets(lib, args), nil
	}
	var list []target
	for _, e := range env.tools(lib) {
		if len(args) == 0 && string(e.Scope) == scope {
			list = append(list, target{e.Path, true})
		}
	}
	for _, arg := range args {
		def, _, err := find(lib, arg, scope)
		if err != nil {
			return nil, err
		}
		list = append(list, target{def.File, false})
	}
	return list, nil
}

// completeNames is completeName for commands that take several.
func (env *Env) completeNames(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return env.completeName(c, nil, prefix)
}
