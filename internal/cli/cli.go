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
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/ownership"
	"github.com/flowrun/flowrun/tool"
)

// Process is what the command line may use of its process. Tests hand in their
// own.
type Process struct {
	Args           []string
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Web            Web
}

// Main runs one command line and returns its exit code.
func Main(p Process) int {
	out := &delivery{to: p.Stdout}
	env := &Env{Stdin: p.Stdin, Stdout: out, Stderr: p.Stderr, completing: len(p.Args) > 0 && (p.Args[0] == cobra.ShellCompRequestCmd || p.Args[0] == cobra.ShellCompNoDescRequestCmd)}
	defer env.endScripts()
	if Version != "" {
		flowrun.Release = Version
	}
	ownership.Use(ownership.Guard{
		Tell:   func(message string) { env.say("warning: %s", message) },
		Trusts: func(folder string, uid int) bool { return config.Vouched(flowrun.DefaultStateDir(), folder, uid) },
	})
	root := env.root(p.Web)
	root.SetArgs(p.Args)
	root.SetIn(p.Stdin)
	root.SetOut(out)
	root.SetErr(p.Stderr)
	err := root.Execute()
	if err != nil {
		err = env.unknownWord(root, err)
	}
	if lost := out.failed(); lost != nil {
		err = lost
	}
	if err != nil {
		return env.fail(err)
	}
	return 0
}

// Env is one run of the program: its streams, and what its commands share.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	color      string // --color; "" is auto
	inJSON     bool   // --progress json: errors are told so too
	completing bool   // a shell asks what could be typed next

	scripts *hooks.Runtime // nil until asked for
	limits  *config.Config // see bounds
	bounded bool           // whether bounds has been asked
	load    tool.Loader    // of .tool.js files; nil until asked for
	loading loading        // ends load
	inForce *config.Config // of the command that runs something; nil until it has read them

	trustOnce   bool        // --trust-project of a command that runs something
	heeds       atomic.Bool // signals are heard by what a command does, see signals
	discoveries discoveries
}

func (env *Env) root(web Web) *cobra.Command {
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
		RunE:               env.brief,
		PersistentPreRunE:  checkState,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // they are ours
	}
	root.SetHelpFunc(help)
	root.SetHelpCommand(env.helpCommand())
	root.SetHelpCommandGroupID("self")
	root.SetFlagErrorFunc(wrongFlag)
	env.colorFlag(root)
	root.AddGroup(&cobra.Group{ID: "run", Title: "Run:"}, &cobra.Group{ID: "look", Title: "Look at runs:"}, &cobra.Group{ID: "author", Title: "Write tools:"}, &cobra.Group{ID: "self", Title: "flowrun itself:"})
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("run",
		env.runCommand(),
		env.callCommand(),
		env.repairCommand(),
		env.resumeCommand(),
		env.retryCommand(),
		env.approveCommand(),
		env.rejectCommand(),
		env.cancelCommand(),
		env.scheduleCommand(),
		env.serveCommand(web),
		env.demoCommand())
	add("look",
		env.psCommand(),
		env.runsCommand(),
		env.showCommand(),
		env.logsCommand(),
		env.timelineCommand(),
		env.eventsCommand(),
		env.statsCommand(),
		env.historyCommand())
	add("author", env.initCommand(), env.validateCommand(), env.explainCommand(), env.graphCommand(), env.explainCacheCommand(), env.schemaCommand(), env.toolCommand())
	add("self", env.configCommand(), env.trustCommand(), env.completionCommand(), env.doctorCommand(), env.manCommand(), env.versionCommand())
	root.AddCommand(append(topicCommands(), toolsTopic())...)
	return root
}
