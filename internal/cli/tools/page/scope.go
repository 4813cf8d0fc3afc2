package page

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Scope has the values of --scope and its short forms.
type Scope struct {
	word                     string
	local, user, global, any bool
}

// Options returns the group SCOPE OPTIONS and declares its flags. what says what the command does
// with a scope, with %s for the scope, and any what it does with --any. byDefault is the default.
// Commands that write have no --any; for them any is "", and the flag exists only to be rejected
// with an explanation.
func (f *Scope) Options(what, any, byDefault string) Group {
	line := func(scope, where string, to *bool) Line {
		l := Line{Left: fmt.Sprintf("--%s, -%s", scope, scope[:1]), Right: fmt.Sprintf(what, where), Target: to}
		if scope == ui.AnyScope {
			l.Right, l.hidden = cmp.Or(any, "the same as --scope any"), any == ""
		}
		if scope == byDefault {
			l.Right += " (default)"
		}
		return l
	}
	words := ui.ScopeWords()
	if any == "" {
		words = words[:3]
	}
	return Group{Title: "SCOPE OPTIONS", Lines: []Line{
		line("global", "global scope (all users)", &f.global),
		line("user", "user scope (current user)", &f.user),
		line("local", "local scope (current directory)", &f.local),
		line(ui.AnyScope, "", &f.any),
		{Left: "--scope SCOPE", Right: "Choose the scope by name: " + strings.Join(words, "|"), Target: &f.word, Words: words},
	}}
}

// Choose returns the scope that the flags choose, or byDefault.
func (f *Scope) Choose(c *cobra.Command, byDefault string) (string, error) {
	var given []string
	if f.word != "" {
		given = append(given, f.word)
	}
	for i, set := range []bool{f.local, f.user, f.global, f.any} {
		if set {
			given = append(given, ui.ScopeWords()[i])
		}
	}
	s, err := OneScope(given, byDefault)
	if err != nil {
		return "", ui.Usage(err, c)
	}
	return s, nil
}

// OneScope returns the scope in given, or byDefault if given is empty. Two different scopes are an
// error.
func OneScope(given []string, byDefault string) (string, error) {
	for _, w := range given {
		if !slices.Contains(ui.ScopeWords(), w) {
			return "", fmt.Errorf("--scope %q is not one of %s%s", w, strings.Join(ui.ScopeWords(), ", "), ui.Nearest(w, ui.ScopeWords()))
		}
	}
	given = slices.Compact(slices.Sorted(slices.Values(given)))
	if len(given) > 1 {
		return "", fmt.Errorf("the scopes %s cannot be combined; give only one", strings.Join(given, " and "))
	}
	if len(given) == 0 {
		return byDefault, nil
	}
	return given[0], nil
}

// ErrAnyScope is the error of commands that write to one scope.
var ErrAnyScope = errors.New("a tool is stored in one scope: use --local, --user or --global instead of any")

// Find finds a tool in the scope that the flags choose, or in any scope.
func (f *Scope) Find(c *cobra.Command, lib *library.Library, name string) (*tool.Definition, tool.Diagnostics, error) {
	scope, err := f.Choose(c, ui.AnyScope)
	if err != nil {
		return nil, nil, err
	}
	if scope != ui.AnyScope {
		return lib.LookupIn(name, tool.Scope(scope))
	}
	def, found, err := lib.Lookup(name, nil)
	if err != nil {
		return nil, nil, ui.MarkMissing(err, name)
	}
	return def, found, nil
}

// OneTool is the argument check of commands that take the name of one tool.
func OneTool(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return ui.Usagef(c, "give the name of one tool")
	}
	return nil
}

// CompleteName completes names of tools in the scope on the line. It does not offer files.
func CompleteName(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		scope := ui.AnyScope
		for _, w := range ui.ScopeWords() {
			if set, _ := c.Flags().GetBool(w); set {
				scope = w
			}
		}
		if w, _ := c.Flags().GetString("scope"); w != "" {
			scope = w
		}
		var words []string
		for _, e := range env.Library().List() {
			if strings.HasPrefix(e.Name, prefix) && (scope == ui.AnyScope && e.ShadowedBy == "" || scope == string(e.Scope)) {
				words = append(words, complete.WithDescription(e.Name, e.Description))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
