package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// help prints what a command does, then its examples, because most people look for those, then its
// usage and flags. For a topic it prints the text of the topic.
func help(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s\n", cmp.Or(c.Long, c.Short))
	if c.IsAdditionalHelpTopicCommand() {
		return
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
		c.Example = "" // otherwise the usage text would repeat them
	}
	fmt.Fprintf(w, "\n%s", c.UsageString())
}

// briefText is printed when flowrun is called without arguments.
const briefText = `flowrun runs tools: commands or multi-step workflows, defined in YAML, Markdown or JavaScript.

  flowrun demo                         watch a short example run
  flowrun init                         create tools of your own in .flowrun/tools
  flowrun run hello NAME=Ada           run a tool by its name
  flowrun run ./hello.yaml NAME=Ada    run a definition by its path

flowrun --help lists all commands and topics. flowrun COMMAND --help explains a command.
`

func printBrief(env *ui.Env) error {
	_, err := fmt.Fprint(env.Stdout, briefText)
	return err
}

// helpCommand returns the command help, which shows the help of a command, a subcommand or a topic.
func helpCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND ... | TOPIC]",
		Short: "Show the help of a command or topic",
		Long: `Show the help of a command, like flowrun COMMAND --help, or of a topic. Without an
argument, list all commands and topics.`,
		Example: `  flowrun help run
  flowrun help tool test
  flowrun help exit-codes`,
		RunE: func(c *cobra.Command, args []string) error {
			at, rest := findCommand(c.Root(), args)
			if len(rest) > 0 {
				return ui.UnknownCommand(at, rest[0])
			}
			at.InitDefaultHelpFlag() // otherwise --help would be missing in the list of flags
			return at.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, rest := findCommand(c.Root(), args)
			if len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []string
			for _, sub := range at.Commands() {
				if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
					words = append(words, ui.WithDescription(sub.Name(), sub.Short))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// findCommand follows words to a subcommand. It returns the command that it reached and the words
// that do not name a command.
func findCommand(at *cobra.Command, words []string) (*cobra.Command, []string) {
	for len(words) > 0 {
		i := slices.IndexFunc(at.Commands(), func(sub *cobra.Command) bool { return sub.Name() == words[0] || sub.HasAlias(words[0]) })
		if i < 0 {
			break
		}
		at, words = at.Commands()[i], words[1:]
	}
	return at, words
}

// explainUnknownCommand replaces cobra's error for an unknown command. If the word is the name of a
// tool or a file, the user probably wants to run it, and the error says how.
func explainUnknownCommand(env *ui.Env, root *cobra.Command, err error) error {
	var word, of string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &of); n != 2 {
		return err
	}
	if _, _, missing := env.Library().Lookup(word, nil); missing == nil {
		return ui.Usage(fmt.Errorf("%s is a tool, not a command; to run it: flowrun run %s", word, word), nil)
	}
	at, _ := findCommand(root, strings.Fields(of)[1:])
	return ui.UnknownCommand(at, word)
}
