package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/tools"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/tool"
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
	if !c.HasParent() {
		listPlugins(w)
	}
}

// runHelp shows a tool for flowrun run TOOL --help, and the command for flowrun run --help. Cobra
// ignores the error of a help function, so it is stored in failed.
func runHelp(env *ui.Env, failed *error) func(c *cobra.Command, args []string) {
	return func(c *cobra.Command, args []string) {
		if words := c.Flags().Args(); len(words) > 0 {
			*failed = tools.Show(env, words[0])
			return
		}
		help(c, args)
	}
}

// briefText is printed when flowrun is called without arguments, unless the project has tools.
const briefText = `flowrun runs tools: commands or multi-step workflows, defined in YAML, Markdown or JavaScript.

  flowrun demo                         watch a short example run
  flowrun init                         create tools of your own in .flowrun/tools
  flowrun run hello NAME=Ada           run a tool by its name
  flowrun run ./hello.yaml NAME=Ada    run a definition by its path

flowrun --help lists all commands and topics. flowrun COMMAND --help explains a command.
`

func printBrief(env *ui.Env) error {
	if listed, err := tools.ListProject(env); listed || err != nil {
		return err
	}
	_, err := fmt.Fprint(env.Stdout, briefText)
	return err
}

// helpCommand returns the command help, which shows the help of a command, a subcommand or a topic.
func helpCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND ... | TOPIC | TOOL]",
		Short: "Show the help of a command, topic or tool",
		Long: `Show the help of a command, like flowrun COMMAND --help, of a topic, or of a tool, like
flowrun run TOOL --help. If a command or topic has the name of the tool, use the latter.
Without an argument, list all commands and topics.`,
		Example: `  flowrun help run
  flowrun help deploy
  flowrun help tool test
  flowrun help exit-codes`,
		RunE: func(c *cobra.Command, args []string) error {
			at, rest := findCommand(c.Root(), args)
			if len(rest) > 0 {
				return helpTool(env, at, rest)
			}
			at.InitDefaultHelpFlag() // otherwise --help would be missing in the list of flags
			return at.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
			at, rest := findCommand(c.Root(), args)
			if len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []string
			if !at.HasParent() {
				words, _ = complete.Tool(env)(c, nil, prefix)
			}
			for _, sub := range at.Commands() {
				if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
					words = append(words, complete.WithDescription(sub.Name(), sub.Short))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// helpTool shows the tool that words name. If there is none, the words are an unknown command of at.
func helpTool(env *ui.Env, at *cobra.Command, words []string) error {
	if !at.HasParent() && len(words) == 1 {
		if p, ok := findPlugin(words[0]); ok {
			return p.run([]string{"--help"})
		}
		_, _, err := env.Library().Lookup(words[0], nil)
		if err == nil || strings.ContainsRune(words[0], os.PathSeparator) || tool.Extension(words[0]) != "" {
			return tools.Show(env, words[0])
		}
	}
	return ui.UnknownCommand(at, words[0])
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
// plugin, it runs the plugin. If it is the name of a tool or a file, the user probably wants to run
// that, and the error says how.
func explainUnknownCommand(env *ui.Env, root *cobra.Command, args []string, err error) error {
	var word, of string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &of); n != 2 {
		return err
	}
	at, _ := findCommand(root, strings.Fields(of)[1:])
	var others []string
	if at == root {
		if p, ok := findPlugin(word); ok {
			return p.runAs(args)
		}
		for _, p := range plugins() {
			others = append(others, p.name)
		}
	}
	if _, _, missing := env.Library().Lookup(word, nil); missing == nil {
		return ui.ToolNotCommand(word)
	}
	return ui.UnknownCommand(at, word, others...)
}
