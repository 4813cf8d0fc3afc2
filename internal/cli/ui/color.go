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

// ColorFlag adds --color, which all commands have.
func (t *Terminal) ColorFlag(root *cobra.Command) {
	root.PersistentFlags().Var(&choiceFlag{&t.color, colorModes}, "color", "`when` to use colour, for stdout and stderr separately: auto|always|never")
	root.RegisterFlagCompletionFunc("color", cobra.FixedCompletions(colorModes, cobra.ShellCompDirectiveNoFileComp))
}

// choiceFlag is a flag that takes one of several words.
type choiceFlag struct {
	to    *string
	words []string
}

func (c *choiceFlag) String() string { return *c.to }

func (c *choiceFlag) Type() string { return "when" }

func (c *choiceFlag) Set(word string) error {
	if !slices.Contains(c.words, word) {
		return fmt.Errorf("%q is not one of %s", word, strings.Join(c.words, ", "))
	}
	*c.to = word
	return nil
}

// Colored reports whether to use colour on w. Each stream is considered separately. The first of
// these that is set decides: --color, FLOWRUN_COLOR, NO_COLOR (https://no-color.org), FORCE_COLOR
// or CLICOLOR_FORCE, TERM=dumb or CLICOLOR=0. If none is set, colour is used on a terminal.
func (t *Terminal) Colored(w io.Writer) bool {
	mode := t.color
	if mode == "" || mode == "auto" {
		mode = os.Getenv("FLOWRUN_COLOR")
	}
	switch {
	case mode == "always":
		return true
	case mode == "never", os.Getenv("NO_COLOR") != "":
		return false
	case forcesColor(os.Getenv("FORCE_COLOR")), forcesColor(os.Getenv("CLICOLOR_FORCE")):
		return true
	case os.Getenv("TERM") == "dumb", os.Getenv("CLICOLOR") == "0":
		return false
	}
	return IsTerminal(w)
}

// forcesColor reports whether a variable with that value forces colour.
func forcesColor(v string) bool {
	return v != "" && v != "0" && v != "false"
}
