package tools

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/tool"
)

// scopeFlags are --scope and its short forms (S1-353).
type scopeFlags struct {
	word  string
	short map[string]*bool
}

// scopes declares the flags of a command. Those that write take no scope "any" but say
// so, instead of not knowing it (S1-354).
func (f *scopeFlags) declare(c *cobra.Command) {
	f.short = map[string]*bool{}
	fl := c.Flags()
	fl.StringVar(&f.word, "scope", "", "scope: "+strings.Join(ui.ScopeWords, "|"))
	for _, w := range ui.ScopeWords {
		f.short[w] = fl.BoolP(w, w[:1], false, "the same as --scope "+w)
	}
	c.RegisterFlagCompletionFunc("scope", cobra.FixedCompletions(ui.ScopeWords, cobra.ShellCompDirectiveNoFileComp))
}

// scope is the scope that was asked for, usual where none was.
func (f *scopeFlags) scope(c *cobra.Command, usual string) (string, error) {
	var given []string
	if f.word != "" {
		given = append(given, f.word)
	}
	for _, w := range ui.ScopeWords {
		if *f.short[w] {
			given = append(given, w)
		}
	}
	s, err := oneScope(given, usual)
	if err != nil {
		return "", ui.Usage(err, c)
	}
	return s, nil
}

// oneScope is the scope that all words agree on.
func oneScope(given []string, usual string) (string, error) {
	for _, w := range given {
		if !slices.Contains(ui.ScopeWords, w) {
			return "", fmt.Errorf("--scope %q is none of %s%s", w, strings.Join(ui.ScopeWords, ", "), ui.Nearest(w, ui.ScopeWords))
		}
	}
	given = slices.Compact(slices.Sorted(slices.Values(given)))
	if len(given) > 1 {
		return "", fmt.Errorf("the scopes %s contradict each other; give one", strings.Join(given, " and "))
	}
	if len(given) == 0 {
		return usual, nil
	}
	return given[0], nil
}

// errNoAny is the answer of commands that write to one scope.
var errNoAny = errors.New("a tool goes into one scope: give --local, --user or --global, not any")

// find is Lookup in a scope, or any.
func find(lib *tool.Library, name, scope string) (*tool.Definition, tool.Diagnostics, error) {
	if scope == ui.AnyScope {
		def, found, err := lib.Lookup(name, nil)
		if err != nil {
			return nil, nil, ui.MarkMissing(err)
		}
		return def, found, nil
	}
	return lib.LookupIn(name, tool.Scope(scope))
}

// oneTool is the argument check of commands that take the name of a tool.
func oneTool(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return ui.Usagef(c, "give the name of one tool")
	}
	return nil
}

// completeName offers the names of tools in the scope on the line, and no files.
func completeName(env *ui.Env) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		scope := ui.AnyScope
		for _, w := range ui.ScopeWords {
			if set, _ := c.Flags().GetBool(w); set {
				scope = w
			}
		}
		if w, _ := c.Flags().GetString("scope"); w != "" {
			scope = w
		}
		var words []string
		for _, e := range env.Tools(env.Library()) {
			if strings.HasPrefix(e.Name, prefix) && (scope == ui.AnyScope && e.ShadowedBy == "" || scope == string(e.Scope)) {
				words = append(words, ui.Described(e.Name, e.Description))
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}
