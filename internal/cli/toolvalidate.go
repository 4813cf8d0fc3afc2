package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/tool"
)

func (a *app) toolValidateCommand() *cobra.Command {
	var f validateFlags
	var s scopeFlags
	var every bool
	c := &cobra.Command{
		Use:   "validate TOOL|PATH...",
		Short: "Validate a tool definition for correctness",
		Long: `Check tools by name, or files. --fix mends what can be mended without a choice to make,
and never changes what a definition means; --detailed adds notes on better practice.

Exits 3 when a definition has an error, 4 when there is no such tool in the scope.`,
		Example: `  flowrun tool validate weather-lookup
  flowrun tool validate weather-lookup --fix
  flowrun tool validate --all --user --detailed`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			scope, err := s.scope(c)
			if err != nil {
				return err
			}
			if (len(args) == 0) != every {
				return usagef(c, "which tool? Give names, or --all for every one in the scope")
			}
			targets, err := a.scoped(args, scope)
			if err != nil {
				return err
			}
			return a.validate(targets, f)
		},
		ValidArgsFunction: a.completeTools,
	}
	s.define(c)
	c.Flags().BoolVar(&every, "all", false, "check every tool in the scope")
	f.define(c)
	return c
}

// scopeFlags choose one scope, in words or by a letter.
type scopeFlags struct {
	name                     string
	global, user, local, any bool
}

func (s *scopeFlags) define(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&s.name, "scope", "any", "only tools of this `scope`: any|local|user|global")
	fl.BoolVarP(&s.global, "global", "g", false, "only tools of the global scope (all users)")
	fl.BoolVarP(&s.user, "user", "u", false, "only tools of the user scope (current user)")
	fl.BoolVarP(&s.local, "local", "l", false, "only tools of the local scope (current directory)")
	fl.BoolVarP(&s.any, "any", "a", false, "tools of the first scope they are found in (default)")
	c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(testScopes, cobra.ShellCompDirectiveNoFileComp))
}

// scope is the scope that the flags choose.
func (s *scopeFlags) scope(c *cobra.Command) (string, error) {
	var chosen []string
	for _, one := range []struct {
		name  string
		given bool
	}{{"global", s.global}, {"user", s.user}, {"local", s.local}, {"any", s.any}} {
		if one.given {
			chosen = append(chosen, one.name)
		}
	}
	if c.Flags().Changed("scope") {
		chosen = append(chosen, s.name)
	}
	if slices.Sort(chosen); len(slices.Compact(chosen)) > 1 {
		return "", usagef(c, "give one scope, not several")
	}
	if len(chosen) == 0 {
		return "any", nil
	}
	return chosen[0], oneOf(c, "scope", chosen[0], testScopes)
}

// scoped are the tools of a scope that args name; without args, all of it.
func (a *app) scoped(args []string, scope string) ([]target, error) {
	lib := a.library()
	if scope == "any" {
		return a.targets(lib, args), nil
	}
	var in []tool.Listed
	for _, e := range lib.List() {
		if string(e.Scope) == scope {
			in = append(in, e)
		}
	}
	var list []target
	for _, e := range in {
		if len(args) == 0 {
			list = append(list, target{e.Path, true})
		}
	}
	for _, arg := range args {
		i := slices.IndexFunc(in, func(e tool.Listed) bool { return e.Name == arg })
		if i < 0 {
			return nil, notInScope(arg, scope, in)
		}
		list = append(list, target{in[i].Path, false})
	}
	return list, nil
}

func notInScope(name, scope string, in []tool.Listed) error {
	var names []string
	for _, e := range in {
		names = append(names, e.Name)
	}
	way := ""
	if near := tool.Near(name, names); len(near) > 0 {
		way = "; did you mean " + near[0] + "?"
	}
	return &missingError{fmt.Errorf("there is no tool %q in the %s scope%s", name, scope, way)}
}
