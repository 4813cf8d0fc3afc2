// Package cli is the command line: it turns words into calls of the root package
// and results into text and exit codes. Results go to stdout, narration to
// stderr.
//
// Every command is one file: it declares its flags, calls the engine and returns
// an error; Main prints the error and chooses the exit code by its kind
// (exit.go).
package cli

import (
	"cmp"
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Process is what the command line may use of its process. Tests hand in their
// own.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Main runs one command line and returns its exit code.
func Main(p Process) int {
	out := &delivery{to: p.Stdout}
	p.Stdout = out
	a := &app{Process: p}
	root := a.root()
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	err := root.Execute()
	if lost := out.failed(); lost != nil {
		err = lost
	}
	if err != nil {
		return a.fail(err)
	}
	return 0
}

// help prints what a command does, then examples, which is what most people look
// for, then its usage and flags.
func help(c *cobra.Command, _ []string) {
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s\n\n", cmp.Or(c.Long, c.Short))
	if c.Example != "" {
		fmt.Fprintf(w, "Examples:\n%s\n\n", c.Example)
		c.Example = "" // cobra would repeat them
	}
	fmt.Fprint(w, c.UsageString())
}

// app is one run of the program.
type app struct {
	Process
	color string // --color; "" is auto
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "flowrun",
		Short: "Define a tool once, run it anywhere",
		Long: `flowrun runs tools: commands, or graphs of steps, defined in YAML.

Exit codes: 0 ok, 1 the run failed, 2 usage, 3 definition invalid, 4 not found,
5 refused, 6 parameters invalid, 7 the run rests, 70 bug, 124 timed out,
130/143 interrupted.`,
		Example: `  flowrun run ./hello.yaml NAME=Ada     run a file
  flowrun run deploy --dry-run          show what would run
  flowrun show latest                   see what came of it
  flowrun resume latest                 go on where it stopped
  flowrun validate                      check every definition in reach`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetHelpFunc(help)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(err, c) })
	a.colorFlag(root)
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "look", Title: "Look at runs:"}, &cobra.Group{ID: "author", Title: "Write tools:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("run", a.runCommand(), a.resumeCommand(), a.retryCommand(), a.cancelCommand())
	add("look", a.runsCommand(), a.showCommand(), a.logsCommand(), a.timelineCommand(), a.eventsCommand(), a.statsCommand(), a.historyCommand())
	add("author", a.validateCommand(), a.graphCommand(), a.explainCacheCommand(), a.schemaCommand(), a.toolCommand())
	root.AddCommand(a.versionCommand())
	return root
}
