// Package command is the command line of flowrun-temporal.
package command

import (
	"io"
	"regexp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/service/config"
)

// Process is what the command line uses of its process.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Main runs one command line and returns its exit code.
func Main(p Process) int {
	out := &ui.CheckedWriter{To: p.Stdout}
	env := &ui.Env{Terminal: ui.Terminal{Stdin: p.Stdin, Stdout: out, Stderr: p.Stderr}}
	defer env.EndPrograms()
	ownership.Use(ownership.Guard{
		Report: func(message string) { env.Notef("warning: %s", message) },
		Trusts: func(folder string, uid int) bool { return config.Vouched(engine.DefaultStateDir(), folder, uid) },
	})
	root := rootCommand(env)
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(out)
	root.SetErr(p.Stderr)
	err := root.Execute()
	if lost := out.Err(); lost != nil {
		err = lost
	}
	if err != nil {
		return env.ReportError(err)
	}
	return 0
}

func rootCommand(env *ui.Env) *cobra.Command {
	root := ui.Group(&cobra.Command{
		Use:   "flowrun-temporal",
		Short: "Run tools on Temporal",
		Long: `flowrun-temporal runs the same tools as flowrun, but on a Temporal service: the service
keeps the state of the runs, and workers on any number of machines execute their steps.

The connection to the service comes from flags, from TEMPORAL_* environment variables, or
from the configuration file of the temporal command.`,
		Example: `  temporal server start-dev             start a development service
  flowrun-temporal worker               execute steps on this machine
  flowrun-temporal run deploy TARGET=eu run a tool`,
		Version:           ui.ThisBuild().String(),
		PersistentPreRunE: ui.CheckState,
		SilenceErrors:     true,
		SilenceUsage:      true,
	})
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(ui.WrongFlag)
	env.ColorFlag(root)
	env.LanguageFlag(root)
	conn := &connection{}
	root.AddCommand(workerCommand(env), runCommand(env), scheduleCommand(env), pruneCommand(env), serveRunsCommand(env, conn))
	root.AddCommand(sharedCommands(env, conn)...)
	env.Hint = func(hint string) string { return hintFor(root, hint) }
	return root
}

var commandWords = regexp.MustCompile(`\bflowrun ([a-z]+)`)

// hintFor turns a hint that names commands of flowrun into one that names those of this program, or
// into "" if one of them is not here.
func hintFor(root *cobra.Command, hint string) string {
	for _, words := range commandWords.FindAllStringSubmatch(hint, -1) {
		if !slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == words[1] }) {
			return ""
		}
	}
	return commandWords.ReplaceAllString(hint, root.Name()+" $1")
}
