package tools

import (
	"cmp"
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
	word                     string
	local, user, global, any bool
}

// options are the flags of a command as SCOPE OPTIONS of its page: what the command does
// with a scope, in a sentence with a %s for it, and what it does with any. Commands that
// write take no scope "any"; they know the flag only to say so (S1-354).
func (f *scopeFlags) options(what, any, usual string) optionGroup {
	line := func(scope, where string, to *bool) optionLine {
		l := optionLine{left: fmt.Sprintf("--%s, -%s", scope, scope[:1]), right: fmt.Sprintf(what, where), to: to}
		if scope == ui.AnyScope {
			l.right, l.hidden = cmp.Or(any, "the same as --scope any"), any == ""
		}
		if scope == usual {
			l.right += " (default)"
		}
		return l
	}
	words := ui.ScopeWords
	if any == "" {
		words = words[:3]
	}
	return optionGroup{"SCOPE OPTIONS", []optionLine{
		line("global", "global scope (all users)", &f.global),
		line("user", "user scope (current user)", &f.user),
		line("local", "local scope (current directory)", &f.local),
		line(ui.AnyScope, "", &f.any),
		{left: "--scope SCOPE", right: "The same by name: " + strings.Join(words, "|"), to: &f.word, words: ui.ScopeWords},
	}}
}

// scope is the scope that was asked for, usual where none was.
func (f *scopeFlags) scope(c *cobra.Command, usual string) (string, error) {
	var given []string
	if f.word != "" {
		given = append(given, f.word)
	}
	for i, set := range []bool{f.local, f.user, f.global, f.any} {
		if set {
			given = append(given, ui.ScopeWords[i])
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
