package ui

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

var colorModes = []string{"auto", "always", "never"}

// ColorFlag adds --color, which every command has.
func (env *Env) ColorFlag(root *cobra.Command) {
	root.PersistentFlags().Var(&choice{&env.color, colorModes}, "color", "`when` to use colour, for stdout and stderr separately: auto|always|never")
	root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
}

// choice is a flag that takes one of some words.
type choice struct {
	to    *string
	words []string
}

func (c *choice) String() string { return *c.to }

func (c *choice) Type() string { return "when" }

func (c *choice) Set(word string) error {
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("it is not one of %s", strings.Join(c.words, ", "))
	}
	*c.to = word
	return nil
}

// Colored says whether to use colour on w: each stream is judged apart. What is said
// first counts: --color, FLOWRUN_COLOR, NO_COLOR (https://no-color.org), FORCE_COLOR
// and CLICOLOR_FORCE, TERM=dumb and CLICOLOR=0; then whether w is a terminal.
func (env *Env) Colored(w io.Writer) bool {
	mode := env.color
	if mode == "" || mode == "auto" {
		mode = os.Getenv("FLOWRUN_COLOR")
	}
	switch {
	case mode == "always":
		return true
	case mode == "never", os.Getenv("NO_COLOR") != "":
		return false
	case forced(os.Getenv("FORCE_COLOR")), forced(os.Getenv("CLICOLOR_FORCE")):
		return true
	case os.Getenv("TERM") == "dumb", os.Getenv("CLICOLOR") == "0":
		return false
	}
	return IsTerminal(w)
}

// forced says whether a variable of that value asks for colour.
func forced(v string) bool {
	return v != "" && v != "0" && v != "false"
}
