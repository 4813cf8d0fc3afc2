package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/tool"
)

// completeTool offers tool names, and files as well.
func (a *app) completeTool(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, e := range a.tools(a.library()) {
		if strings.HasPrefix(e.Name, prefix) && e.ShadowedBy == "" {
			words = append(words, described(e.Name, e.Description))
		}
	}
	return words, cobra.ShellCompDirectiveDefault
}

// completeTools is completeTool for commands that take several.
func (a *app) completeTools(c *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return a.completeTool(c, nil, prefix)
}

// completeRun offers tools, then the tool's parameters.
func (a *app) completeRun(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeTool(c, args, prefix)
	}
	plan, err := a.compile(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, _, inValue := strings.Cut(prefix, "=")
	var words []string
	for _, p := range plan.Definition.Parameters {
		switch {
		case inValue && p.Name == name:
			for _, v := range candidates(p) {
				if w := name + "=" + v; strings.HasPrefix(w, prefix) {
					words = append(words, w)
				}
			}
			return words, cobra.ShellCompDirectiveDefault
		case !inValue && strings.HasPrefix(p.Name, prefix):
			words = append(words, described(p.Name+"=", p.Description))
		}
	}
	return words, cobra.ShellCompDirectiveNoSpace
}

// completeStep offers the steps of the tool named on the line.
func (a *app) completeStep(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	plan, err := a.compile(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, name := range plan.Steps() {
		if strings.HasPrefix(name, prefix) {
			words = append(words, name)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// candidates are values to offer for a parameter.
func candidates(p *tool.Parameter) []string {
	values := append(append([]tool.Value(nil), p.Validation.Enum...), p.Examples...)
	var words []string
	for _, v := range values {
		if v.Text != nil {
			words = append(words, v.Text.S)
		} else if v.Scalar != nil {
			words = append(words, fmt.Sprint(v.Scalar))
		}
	}
	if p.Type == "boolean" {
		words = append(words, "true", "false")
	}
	return words
}

func described(word, text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if text == "" {
		return word
	}
	return word + "\t" + text
}
