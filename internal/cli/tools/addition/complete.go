package addition

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
)

// Complete completes the next word of a tool add command line: a value of the preceding option, the
// words of a parameter, or an option.
func Complete(_ *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	o, have := lastOption(args)
	none := cobra.ShellCompDirectiveNoFileComp
	switch {
	case o != nil && o.Name == "parameter" && have >= 2 && !strings.HasPrefix(prefix, "-"):
		return completeParameter(prefix)
	case o == nil || have >= len(o.Values) || strings.HasPrefix(prefix, "-"):
		return completeOptions(args, prefix), none
	case o.Name == "from-file":
		return []string{"yaml", "yml", "json"}, cobra.ShellCompDirectiveFilterFileExt
	case o.Name == "working-directory":
		return nil, cobra.ShellCompDirectiveFilterDirs
	case o.form == booleanForm:
		return withPrefix([]string{"true", "false"}, prefix), none
	}
	return withPrefix(o.words, prefix), none
}

// lastOption returns the last option on the line, and how many of its values are given.
func lastOption(args []string) (*addOption, int) {
	for i := len(args) - 1; i >= 0; i-- {
		if o, _, inWord := optionOf(args[i]); o != nil {
			have := len(args) - 1 - i
			if inWord {
				have++
			}
			return o, have
		}
	}
	return nil, 0
}

// completeOptions completes options. Options of steps and tests are offered only after --step or
// --test.
func completeOptions(args []string, prefix string) []string {
	var words []string
	for _, o := range options {
		if o.Owner == OfStep && !slices.Contains(args, "--step") || o.Owner == OfTest && !slices.Contains(args, "--test") {
			continue
		}
		if w := "--" + o.Name; strings.HasPrefix(w, prefix) {
			words = append(words, complete.WithDescription(w, o.Help))
		}
	}
	return words
}

func completeParameter(prefix string) ([]string, cobra.ShellCompDirective) {
	key, value, inValue := strings.Cut(prefix, "=")
	if o := optionNamed(parameterOptions, key); inValue && o != nil {
		words := o.words
		if o.form == booleanForm {
			words = []string{"true", "false"}
		}
		words = withPrefix(words, value)
		for i, w := range words {
			words[i] = key + "=" + w
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	var words []string
	for _, o := range parameterOptions {
		if strings.HasPrefix(o.Name, prefix) {
			words = append(words, complete.WithDescription(o.Name+"=", o.Help))
		}
	}
	return words, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

func withPrefix(words []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !strings.HasPrefix(w, prefix) })
}
