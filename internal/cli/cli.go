// Package cli is the command line: it turns words into calls of the root package
// and results into text and exit codes. Results go to stdout, narration to
// stderr.
//
// Every command has a file of its own: it declares its flags, calls the engine and
// returns an error; Main prints the error and chooses the exit code by its kind
// (exit.go). What several commands share has a file named for it: params.go reads
// PARAM=VALUE, ask.go puts questions, narrate.go tells of a run, consent.go asks the
// policy, page.go prints help in the specification's form. flowrun tool add parses its
// ordered options itself (add*.go).
package cli

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli/author"
	"github.com/flowrun/flowrun/internal/cli/doctor"
	"github.com/flowrun/flowrun/internal/cli/models"
	"github.com/flowrun/flowrun/internal/cli/past"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/schedules"
	"github.com/flowrun/flowrun/internal/cli/serve"
	"github.com/flowrun/flowrun/internal/cli/settings"
	"github.com/flowrun/flowrun/internal/cli/tools"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/ownership"
)

// Process is what the command line may use of its process. Tests hand in their
// own.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Web            serve.Web
}

// Main runs one command line and returns its exit code.
func Main(p Process) int {
	out := &ui.Delivery{To: p.Stdout}
	env := &ui.Env{Stdin: p.Stdin, Stdout: out, Stderr: p.Stderr, Completing: len(p.Args) > 0 && (p.Args[0] == cobra.ShellCompRequestCmd || p.Args[0] == cobra.ShellCompNoDescRequestCmd)}
	defer env.EndScripts()
	if ui.Version != "" {
		flowrun.Release = ui.Version
	}
	ownership.Use(ownership.Guard{
		Tell:   func(message string) { env.Notef("warning: %s", message) },
		Trusts: func(folder string, uid int) bool { return config.Vouched(flowrun.DefaultStateDir(), folder, uid) },
	})
	root := root(env, p.Web)
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(out)
	root.SetErr(p.Stderr)
	err := root.Execute()
	if err != nil {
		err = unknownWord(env, root, err)
	}
	if lost := out.Failed(); lost != nil {
		err = lost
	}
	if err != nil {
		return env.ReportError(err)
	}
	return 0
}

func root(env *ui.Env, web serve.Web) *cobra.Command {
	root := &cobra.Command{
		Use:   "flowrun",
		Short: "Define a tool once, run it anywhere",
		Long:  "flowrun runs tools: commands, or graphs of steps, defined in YAML, Markdown or JavaScript.",
		Example: `  flowrun demo                          watch a run of a few seconds
  flowrun run ./hello.yaml NAME=Ada     run a file
  flowrun run deploy --dry-run          show what would run
  flowrun show latest                   see what came of it
  flowrun resume latest                 go on where it stopped
  flowrun validate                      check every definition in reach`,
		RunE:               func(p1 *cobra.Command, p2 []string) error { return brief(env, p1, p2) },
		PersistentPreRunE:  ui.CheckState,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // they are ours
	}
	root.SetHelpFunc(help)
	root.SetHelpCommand(helpCommand(env))
	root.SetHelpCommandGroupID("self")
	root.SetFlagErrorFunc(ui.WrongFlag)
	env.ColorFlag(root)
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "look", Title: "Look at runs:"}, &cobra.Group{ID: "author", Title: "Write tools:"}, &cobra.Group{ID: "self", Title: "flowrun itself:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("run",
		runs.RunCommand(env),
		models.CallCommand(env),
		models.RepairCommand(env),
		runs.ResumeCommand(env),
		runs.RetryCommand(env),
		runs.ApproveCommand(env),
		runs.RejectCommand(env),
		runs.CancelCommand(env),
		schedules.ScheduleCommand(env),
		serve.ServeCommand(env, web),
		runs.DemoCommand(env))
	add("look",
		past.PsCommand(env),
		past.RunsCommand(env),
		past.ShowCommand(env),
		past.LogsCommand(env),
		past.TimelineCommand(env),
		past.EventsCommand(env),
		past.StatsCommand(env),
		past.HistoryCommand(env))
	add("author", author.InitCommand(env), tools.ValidateCommand(env), author.ExplainCommand(env), author.GraphCommand(env), runs.ExplainCacheCommand(env), author.SchemaCommand(env), tools.ToolCommand(env))
	add("self", settings.ConfigCommand(env), settings.TrustCommand(env), completionCommand(env), doctor.DoctorCommand(env), manCommand(env), versionCommand(env))
	root.AddCommand(append(topicCommands(), tools.ToolsTopic())...)
	return root
}
