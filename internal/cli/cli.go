// Package cli is the command line of flowrun. It translates arguments into calls of the root
// package, and results into text and exit codes. Results go to stdout; progress and messages go to
// stderr.
//
// Each family of commands is a package below this one, with a function Commands: runs, past,
// models, schedules, serve, tools, author, settings and doctor. Families do not import each other.
// They share the packages ui (terminal, errors, settings, history), engines (whose runs), launch
// (parameters, consent, engines), runview (output about runs), keyboard and timetable. This package builds the root
// command from all families, prints the error that a command returns, and exits with the exit code
// for that kind of error.
package cli

import (
	"io"
	"log"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/author"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/doctor"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/models"
	"github.com/flowrun/flowrun/internal/cli/past"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/schedules"
	"github.com/flowrun/flowrun/internal/cli/serve"
	"github.com/flowrun/flowrun/internal/cli/servers"
	"github.com/flowrun/flowrun/internal/cli/settings"
	"github.com/flowrun/flowrun/internal/cli/state"
	"github.com/flowrun/flowrun/internal/cli/tools"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/service/config"
)

// Process is what the command line uses of its process. Tests pass their own.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Web            serve.Web
}

// Main runs one command line and returns its exit code.
func Main(p Process) int {
	out := &ui.CheckedWriter{To: p.Stdout}
	env := &ui.Env{Terminal: ui.Terminal{Stdin: p.Stdin, Stdout: out, Stderr: p.Stderr,
		Completing: len(p.Args) > 0 && (p.Args[0] == cobra.ShellCompRequestCmd || p.Args[0] == cobra.ShellCompNoDescRequestCmd)}}
	defer env.EndPrograms()
	log.SetOutput(io.Discard) // net/http prints there what other machines send
	ownership.Use(ownership.Guard{
		Report: func(message string) { env.Notef("warning: %s", message) },
		Trusts: func(folder string, uid int) bool { return config.Vouched(engine.DefaultStateDir(), folder, uid) },
	})
	root := rootCommand(env, p.Web, p.Args)
	var noHelp error
	if run, _, err := root.Find([]string{"run"}); err == nil {
		run.SetHelpFunc(runHelp(env, &noHelp))
	}
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(out)
	root.SetErr(p.Stderr)
	err := root.Execute()
	if err == nil {
		err = noHelp
	}
	if err != nil {
		err = explainUnknownCommand(env, root, p.Args, err)
	}
	if lost := out.Err(); lost != nil {
		err = lost
	}
	if err != nil {
		return env.ReportError(err)
	}
	return 0
}

// rootCommand returns the root with the command that the first argument names, or with all commands.
func rootCommand(env *ui.Env, web serve.Web, args []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "flowrun",
		Short: "Define a tool once, run it anywhere",
		Long:  "flowrun runs tools: commands or multi-step workflows, defined in YAML, Markdown or JavaScript.",
		Example: `  flowrun demo                          watch a short example run
  flowrun run ./hello.yaml NAME=Ada     run a file
  flowrun run deploy --dry-run          show what would run
  flowrun show latest                   show the status of the last run
  flowrun resume latest                 continue it where it stopped
  flowrun validate                      check all definitions`,
		RunE:               func(*cobra.Command, []string) error { return printBrief(env) },
		Version:            ui.ThisBuild().String(),
		PersistentPreRunE:  ui.CheckState,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true,                                             // explainUnknownCommand suggests commands instead
		CompletionOptions:  cobra.CompletionOptions{DisableDefaultCmd: true}, // completionCommand replaces it
	}
	root.SetHelpFunc(help)
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().BoolP("version", "v", false, "print the version")
	root.SetHelpCommand(helpCommand(env))
	root.SetHelpCommandGroupID(ui.GroupSelf)
	root.SetFlagErrorFunc(ui.WrongFlag)
	env.ColorFlag(root)
	env.LanguageFlag(root)
	root.AddGroup(&cobra.Group{ID: ui.GroupRun, Title: "Run:"}, &cobra.Group{ID: ui.GroupInspect, Title: "Inspect runs:"}, &cobra.Group{ID: ui.GroupAuthor, Title: "Write tools:"}, &cobra.Group{ID: ui.GroupSelf, Title: "flowrun itself:"})
	env.Remote = temporalRuns(env)
	for _, c := range commands(web, args) {
		built := c.Build(env)
		root.AddCommand(built)
		if slices.Contains(slices.Concat(engines.Readers(), engines.Actors()), c.Name) {
			engines.Flag(env, built, engines.Default())
		}
	}
	if mcp, _, err := root.Find([]string{"mcp"}); err == nil {
		mcp.AddCommand(append(servers.Commands(env), models.ServerCallCommand(env))...)
	}
	if env.Completing {
		complete.Rest(root)
	}
	return root
}

// commands returns the command that the first argument names, or all commands and topics. It returns
// all for the commands that read the whole tree: help, completion and man.
func commands(web serve.Web, args []string) []ui.Command {
	all := slices.Concat(runs.Commands(), models.Commands(), schedules.Commands(), serve.Commands(web), past.Commands(), state.Commands(),
		author.Commands(), tools.Commands(), settings.Commands(), doctor.Commands(), ui.InGroup(ui.GroupSelf, ui.Named("version", versionCommand)))
	if len(args) > 0 {
		if i := slices.IndexFunc(all, func(c ui.Command) bool { return c.Name == args[0] }); i >= 0 {
			return all[i : i+1]
		}
	}
	return slices.Concat(all, ui.InGroup(ui.GroupSelf, ui.Named("completion", completionCommand), ui.Named("man", manCommand)), topicCommands())
}
