// Package cli is the command line: it turns words into calls of the root package
// and results into text and exit codes. Results go to stdout, narration to
// stderr.
//
// Every command is one file: it declares its flags, calls the engine and returns
// an error; Main prints the error and chooses the exit code by its kind
// (exit.go).
package cli

import (
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

// app is one run of the program.
type app struct {
	Process
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "flowrun",
		Short: "Define a tool once, run it anywhere",
		Long: `flowrun runs tools: commands, or graphs of steps, defined in YAML.

Exit codes: 0 ok, 1 the run failed, 2 usage, 3 definition invalid, 4 not found,
5 refused, 6 parameters invalid, 70 bug, 124 timed out, 130/143 interrupted.`,
		Example: `  flowrun run ./hello.yaml NAME=Ada     run a file
  flowrun run deploy --dry-run          show what would run
  flowrun validate                      check every definition in reach`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usage(err, c) })
	root.AddCommand(a.runCommand(), a.validateCommand(), a.graphCommand(), a.versionCommand())
	return root
}
