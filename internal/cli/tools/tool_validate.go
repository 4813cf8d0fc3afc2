package tools

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// toolValidateCommand checks tools of a scope (S1-330 to S1-332, S1-369).
func toolValidateCommand(env *ui.Env) *cobra.Command {
	f := newValidateFlags()
	var scopes scopeFlags
	var every bool
	c := &cobra.Command{
		Use:               "validate TOOL_NAME",
		Short:             "Validate a tool definition for correctness",
		ValidArgsFunction: completeNames(env),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			scope, err := scopes.scope(c, ui.AnyScope)
			if err != nil {
				return err
			}
			if (len(args) == 0) != every {
				return ui.Usagef(c, "which tool? Give names, or --all for every one in the scope")
			}
			targets, err := scoped(env, args, scope)
			if err != nil {
				return err
			}
			return validate(env, targets, closed(env.Library(), args, scope), f)
		},
	}
	return page{
		title: "flowrun tool validate",
		about: []string{"Validate a tool definition for correctness. Exits 3 when it has an error, and 4 when", "there is no such tool in the scope."},
		usage: []string{"flowrun tool validate TOOL_NAME [--scope] [options]", "flowrun tool validate --all [--scope] [options]"},
		options: []optionGroup{
			scopes.options("Validate the tool from %s", "Validate the tool from the first scope it's found in", ui.AnyScope),
			{"VALIDATION OPTIONS", []optionLine{
				{left: "--fix", right: "Fix validation issues if possible; never changes what a tool means", to: &f.fix},
				{left: "--dry-run", right: "With --fix: show the changes as a diff, and write nothing", depth: 1, to: &f.dryRun},
				{left: "--detailed", right: "Show detailed validation results: notes on better practice", to: &f.detailed},
				{left: "--strict", right: "Count warnings as errors", to: &f.strict},
				{left: "--against PATH", right: "Tell what breaks callers of the older definitions there", to: &f.against},
				{left: "--all", right: "Validate every tool in the scope", to: &every},
			}},
			{"OUTPUT OPTIONS", []optionLine{
				{left: "--output, -o FORM", right: "Form of the results: text|json|github|sarif (default: text)", to: &f.output, words: diagnosticForms},
				{left: "--limit N", right: "Show at most N problems as text; 0 is all (default: 20)", to: &f.limit},
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
func scoped(env *ui.Env, args []string, scope string) ([]target, error) {
	lib := env.Library()
	if scope == ui.AnyScope {
		return targets(env, lib, args), nil
	}
	var list []target
	for _, e := range env.Tools(lib) {
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
func completeNames(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return completeName(env)(c, nil, prefix)
	}
}
