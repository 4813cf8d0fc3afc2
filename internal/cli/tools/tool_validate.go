package tools

import (
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/tools/page"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// toolValidateCommand validates tools of a scope.
func toolValidateCommand(env *ui.Env) *cobra.Command {
	f := newValidateFlags()
	var scopes page.Scope
	var every bool
	c := &cobra.Command{
		Use:               "validate TOOL_NAME",
		Short:             "Validate a tool definition for correctness",
		ValidArgsFunction: completeNames(env),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			scope, err := scopes.Choose(c, ui.AnyScope)
			if err != nil {
				return err
			}
			if (len(args) == 0) != every {
				return ui.Usagef(c, "missing argument: give the names of tools, or --all for all tools in the scope")
			}
			targets, err := targetsInScope(env, args, scope)
			if err != nil {
				return err
			}
			return validate(env, targets, unreadableFolders(env.Library(), args, scope), f)
		},
	}
	return page.Page{
		Title: "flowrun tool validate",
		About: []string{"Validate a tool definition for correctness. Exits with 3 if it has an error, and with 4 if", "the scope has no such tool."},
		Usage: []string{"flowrun tool validate TOOL_NAME [--scope] [options]", "flowrun tool validate --all [--scope] [options]"},
		Options: []page.Group{
			scopes.Options("Validate the tool from %s", "Validate the tool from the first scope it's found in", ui.AnyScope),
			{Title: "VALIDATION OPTIONS", Lines: []page.Line{
				{Left: "--fix", Right: "Fix validation issues if possible; never changes what a tool means", Target: &f.fix},
				{Left: "--dry-run", Right: "With --fix: show the changes as a diff, and write nothing", Depth: 1, Target: &f.dryRun},
				{Left: "--detailed", Right: "Show detailed validation results: best-practice notes", Target: &f.detailed},
				{Left: "--strict", Right: "Count warnings as errors", Target: &f.strict},
				{Left: "--against PATH", Right: "Report changes that break callers of the older definitions at PATH", Target: &f.against},
				{Left: "--all", Right: "Validate all tools in the scope", Target: &every},
			}},
			{Title: "OUTPUT OPTIONS", Lines: []page.Line{
				{Left: "--output, -o FORM", Right: "Form of the results: text|json|github|sarif (default: text)", Target: &f.output, Words: diagnosticForms},
				{Left: "--limit N", Right: "Show at most N problems as text; 0 shows all (default: 20)", Target: &f.limit},
			}},
		},
		Examples: []page.Example{
			{Title: "Validate a tool", Text: "flowrun tool validate weather-lookup"},
			{Title: "Validate and automatically fix issues", Text: "flowrun tool validate weather-lookup --fix"},
		},
		SeeAlso: []string{"flowrun help tool", "flowrun help tools", "flowrun help explain"},
	}.Apply(c)
}

// targetsInScope returns the tools of a scope that args name, or all its tools if args is empty.
func targetsInScope(env *ui.Env, args []string, scope string) ([]target, error) {
	lib := env.Library()
	if scope == ui.AnyScope {
		return targets(lib, args), nil
	}
	var list []target
	for _, e := range lib.List() {
		if len(args) == 0 && string(e.Scope) == scope {
			list = append(list, target{e.Path, true})
		}
	}
	for _, arg := range args {
		def, _, err := lib.LookupIn(arg, tool.Scope(scope))
		if err != nil {
			return nil, err
		}
		list = append(list, target{def.File, false})
	}
	return list, nil
}

// completeNames is page.CompleteName for commands that take several names.
func completeNames(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
		return page.CompleteName(env)(c, nil, prefix)
	}
}
