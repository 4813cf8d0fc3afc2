package ui

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/flowrun/flowrun/internal/lang/duration"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Groups of commands in the help of flowrun.
const (
	GroupRun     = "run"
	GroupInspect = "look"
	GroupAuthor  = "author"
	GroupSelf    = "self"
)

// Command is a command that is built only if the command line uses it or shows a list of commands:
// declaring the flags of all commands takes longer than many commands run.
type Command struct {
	Name  string
	group string
	build func(*Env) *cobra.Command
}

// Named returns the command that build builds. name is the first word of its usage.
func Named(name string, build func(*Env) *cobra.Command) Command {
	return Command{Name: name, build: build}
}

// InGroup puts commands into a group of the help.
func InGroup(group string, commands ...Command) []Command {
	for i := range commands {
		commands[i].group = group
	}
	return commands
}

// Build builds the command.
func (c Command) Build(env *Env) *cobra.Command {
	built := c.build(env)
	built.GroupID = c.group
	return built
}

// elsewhere says which command to use instead of one that other programs have.
var elsewhere = map[string]string{
	"flowrun list":   listHint,
	"flowrun ls":     listHint,
	"flowrun status": "to list runs: flowrun runs; to show one: flowrun show RUN",
	"flowrun view":   "to show a run: flowrun show RUN; to show a tool: flowrun tool get TOOL",
	"flowrun lint":   checkHint,
	"flowrun check":  checkHint,
	"flowrun test":   "to run the tests of tools: flowrun tool test",
	"flowrun start":  runHint + "; to start the service: flowrun serve",
	"flowrun exec":   runHint,
	"flowrun plan":   "to show what would run: flowrun run TOOL --dry-run",
	"flowrun stop":   stopHint,
	"flowrun kill":   stopHint,
	"flowrun new":    addHint,
	"flowrun add":    addHint,
	"flowrun create": addHint,
	"flowrun edit":   "to edit a definition: flowrun tool edit TOOL",
	"flowrun rm":     removeHint,
	"flowrun remove": removeHint,
	"flowrun delete": removeHint,
	"flowrun toolx":  "flowrun does not read the calls of toolx (YAML with tool: tool://NAME and mode): flowrun call NAME ARGUMENTS",

	"flowrun tool run":    runHint,
	"flowrun tool ls":     "to list tools: flowrun tool list",
	"flowrun tool show":   "to show a tool: flowrun tool get TOOL",
	"flowrun tool new":    addHint,
	"flowrun tool create": addHint,
	"flowrun tool rm":     removeHint,
	"flowrun tool delete": removeHint,

	"flowrun config set": "flowrun does not change settings: edit a file that flowrun config path lists",
}

const (
	listHint   = "to list tools: flowrun tool list; to list runs: flowrun runs"
	checkHint  = "to check definitions: flowrun validate"
	runHint    = "to run a tool: flowrun run TOOL"
	stopHint   = "to stop a run: flowrun cancel RUN"
	addHint    = "to create a tool: flowrun tool add NAME"
	removeHint = "to remove a tool: flowrun tool remove TOOL"
)

// flagsElsewhere says what to write instead of a flag that other programs have.
var flagsElsewhere = map[string]string{
	"flowrun run --env": "steps inherit your environment: NAME=value flowrun run ...; or set it in the definition with environment:",
}

// ToolNotCommand is the error for a word that is not a command, but the name of a tool or a file.
func ToolNotCommand(word string) error {
	run := "flowrun run " + shellword.Sh(word)
	if hint := elsewhere["flowrun "+word]; hint != "" {
		return Usagef(nil, "unknown command %q; %s; to run the tool %s: %s", word, hint, word, run)
	}
	return Usagef(nil, "%s is a tool, not a command; to run it: %s", word, run)
}

// UnknownCommand is the error for a word that is not a command of c. others are further words that may
// be meant.
func UnknownCommand(c *cobra.Command, word string, others ...string) error {
	if hint := elsewhere[c.CommandPath()+" "+word]; hint != "" {
		return Usagef(nil, "unknown command %q; %s", word, hint)
	}
	names := others
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() || sub.IsAdditionalHelpTopicCommand() {
			names = append(names, sub.Name())
		}
	}
	return Usage(errors.New(AddHint(fmt.Sprintf("unknown command %q%s", word, Nearest(word, names)), c.CommandPath()+" --help lists the commands")), nil)
}

// Group turns c into a command that only contains other commands. Without an argument it shows
// its help; with an unknown one it fails.
func Group(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return UnknownCommand(c, args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	return c
}

// WrongFlag is the error for an unknown flag, with a suggestion. In a command that only
// contains others, it reports an unknown command before the flag instead.
func WrongFlag(c *cobra.Command, err error) error {
	if words := c.Flags().Args(); c.HasSubCommands() && len(words) > 0 {
		return UnknownCommand(c, words[0])
	}
	if name, ok := strings.CutPrefix(err.Error(), "unknown flag: --"); ok {
		var flags []string
		for _, line := range strings.Fields(c.Flags().FlagUsages()) {
			if flag, ok := strings.CutPrefix(line, "--"); ok {
				flags = append(flags, flag)
			}
		}
		hint := NearestAs("--%s", name, flags)
		if instead := flagsElsewhere[c.CommandPath()+" --"+name]; instead != "" {
			hint = "; " + instead
		}
		err = fmt.Errorf("%w%s", err, hint)
	}
	return Usage(wrongValue(err), c)
}

// wrongValue returns the error for a value that a flag cannot take, in the words of flowrun instead
// of those of strconv. Other errors are returned unchanged.
func wrongValue(err error) error {
	var wrong *pflag.InvalidValueError
	if !errors.As(err, &wrong) {
		return err
	}
	reason := wrong.Unwrap()
	switch kind := wrong.GetFlag().Value.Type(); {
	case kind == "bool":
		reason = fmt.Errorf("%q is neither true nor false", wrong.GetValue())
	case strings.Contains(kind, "int") && errors.Is(err, strconv.ErrRange):
		reason = fmt.Errorf("%q is too large", wrong.GetValue())
	case strings.Contains(kind, "int"):
		reason = fmt.Errorf("%q is not a whole number", wrong.GetValue())
	}
	return fmt.Errorf("--%s: %w", wrong.GetFlag().Name, reason)
}

// WrongFlag is the error for an unknown flag of a command that is given a tool and its parameters.
// If a parameter has the name of the flag, it says how to write it.
func (env *Env) WrongFlag(c *cobra.Command, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "unknown flag: --")
	if args := c.Flags().Args(); unknown && len(args) > 0 {
		if def, _, missing := env.Library().Lookup(args[0], nil); missing == nil {
			for _, p := range def.Parameters {
				if strings.EqualFold(p.Name, name) || strings.EqualFold(p.Name, strings.ReplaceAll(name, "-", "_")) {
					return Usage(fmt.Errorf("%w; to set the parameter: %s=value, without dashes", err, p.Name), c)
				}
			}
		}
	}
	return WrongFlag(c, err)
}

// NoArgs is the argument check of commands without arguments.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef(c, "%s takes no arguments, got %q", c.CommandPath(), args[0])
	}
	return nil
}

// OneOf checks that a flag has one of the allowed values.
func OneOf(c *cobra.Command, flag, value string, allowed []string) error {
	for _, w := range allowed {
		if value == w {
			return nil
		}
	}
	return Usagef(c, "--%s %q is not one of %s", flag, value, strings.Join(allowed, ", "))
}

// DurationFlag adds a flag that takes a duration such as 90s or 1d. A value of 0 is shown as no
// default.
func DurationFlag(c *cobra.Command, to *time.Duration, name string, value time.Duration, usage string) {
	*to = value
	c.Flags().Var((*durationValue)(to), name, usage)
}

type durationValue time.Duration

func (d *durationValue) Set(s string) (err error) {
	v, err := duration.Parse(s)
	*d = durationValue(v)
	return err
}

func (d *durationValue) Type() string { return "duration" }

func (d *durationValue) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

// ValueNames returns what the help calls the value of each flag of a command, by the name of the flag.
func ValueNames(c *cobra.Command) map[string]string {
	names := map[string]string{}
	c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name], _ = pflag.UnquoteUsage(f) })
	return names
}

// OutputFlag adds --output, which takes one of forms; the first is the default. With any other
// value, the command returns a usage error.
func OutputFlag(c *cobra.Command, to *string, forms ...string) {
	c.Flags().StringVarP(to, "output", "o", forms[0], "print in this `form`: "+strings.Join(forms, "|"))
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(forms, cobra.ShellCompDirectiveNoFileComp))
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := OneOf(c, "output", *to, forms); err != nil {
			return err
		}
		return run(c, args)
	}
}
