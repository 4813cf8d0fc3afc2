package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/tool"
)

// help prints what a command does, then examples, which is what most people look
// for, then its usage and flags. A topic is its text.
func help(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s\n", cmp.Or(c.Long, c.Short))
	if c.IsAdditionalHelpTopicCommand() {
		return
	}
	if c.Example != "" {
		fmt.Fprintf(w, "\nExamples:\n%s\n", c.Example)
		c.Example = "" // cobra would repeat them
	}
	fmt.Fprintf(w, "\n%s", c.UsageString())
}

// briefText is what flowrun says when it is called without a word.
const briefText = `flowrun runs tools: commands, or graphs of steps, defined in YAML, Markdown or JavaScript.

  flowrun demo                         watch a run of a few seconds
  flowrun init                         begin with tools of your own
  flowrun run ./hello.yaml NAME=Ada    run a definition; a name will do for those in
                                       .flowrun/tools

flowrun --help lists all commands and topics, flowrun COMMAND --help explains one.
`

func (env *Env) brief(*cobra.Command, []string) error {
	_, err := fmt.Fprint(env.Stdout, briefText)
	return err
}

// helpCommand is flowrun help: of a command, of one inside it, or of a topic.
func (env *Env) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND ... | TOPIC]",
		Short: "Help about a command or a topic",
		Long: `Help about a command, as --help behind it prints, or about a topic. Without a word,
the list of both.`,
		Example: `  flowrun help run
  flowrun help tool test
  flowrun help exit-codes`,
		RunE: func(c *cobra.Command, args []string) error {
			at, rest := descend(c.Root(), args)
			if len(rest) > 0 {
				return unknownCommand(at, rest[0])
			}
			at.InitDefaultHelpFlag() // or it would not be in the list of flags
			return at.Help()
		},
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			at, rest := descend(c.Root(), args)
			if len(rest) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var words []string
			for _, sub := range at.Commands() {
				if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
					words = append(words, described(sub.Name(), sub.Short))
				}
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// descend follows words from command to command, and answers those that name none.
func descend(at *cobra.Command, words []string) (*cobra.Command, []string) {
	for len(words) > 0 {
		i := slices.IndexFunc(at.Commands(), func(sub *cobra.Command) bool { return sub.Name() == words[0] || sub.HasAlias(words[0]) })
		if i < 0 {
			break
		}
		at, words = at.Commands()[i], words[1:]
	}
	return at, words
}

// unknownCommand is the error of a word that is no command of c.
func unknownCommand(c *cobra.Command, word string) error {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	return usage(errors.New(then(fmt.Sprintf("unknown command %q%s", word, nearest(word, names)), c.CommandPath()+" --help lists the commands")), nil)
}

// then adds a way out to what is wrong, which may be followed by a question already.
func then(wrong, out string) string {
	if strings.HasSuffix(wrong, "?") {
		return wrong + " " + out
	}
	return wrong + "; " + out
}

// unknownWord makes cobra's error of an unknown command ours. A tool or a file in the
// place of a command is what people mean to run.
func (env *Env) unknownWord(root *cobra.Command, err error) error {
	var word, of string
	if n, _ := fmt.Sscanf(err.Error(), "unknown command %q for %q", &word, &of); n != 2 {
		return err
	}
	if _, _, missing := env.library().Lookup(word, nil); missing == nil {
		return usage(fmt.Errorf("%s is a tool, not a command; run it: flowrun run %s", word, word), nil)
	}
	at, _ := descend(root, strings.Fields(of)[1:])
	return unknownCommand(at, word)
}

// group makes a command that only holds others: without a word it shows its help, with
// one it does not know it says so.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// wrongFlag is the error of a flag that cobra does not take, with one that may be meant.
// In a command that only holds others a word before the flag is what is wrong.
func wrongFlag(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return unknownCommand(c, words[0])
	}
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var flags []string
		for _, line := range strings.Fields(c.Flags().FlagUsages()) {
			if flag, ok := strings.CutPrefix(line, "--"); ok {
				flags = append(flags, flag)
			}
		}
		err = fmt.Errorf("%w%s", err, nearestAs("--%s", name, flags))
	}
	return usage(err, c)
}

// nearest is a did-you-mean, "" where nothing comes near.
func nearest(word string, names []string) string { return nearestAs("%q", word, names) }

// nearestAs is nearest with the name as a format writes it.
func nearestAs(format, word string, names []string) string {
	if near := tool.Near(word, names); len(near) > 0 {
		return fmt.Sprintf("; did you mean "+format+"?", near[0])
	}
	return ""
}
