// Package state holds the command state: it shows and sets the values that tools keep between
// their runs.
package state

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/engines"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Commands returns the commands of this package.
func Commands() []ui.Command { return ui.InGroup(ui.GroupInspect, ui.Named("state", stateCommand)) }

func stateCommand(env *ui.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "state",
		Short: "Show and set the values that tools keep between runs",
		Long: `Show and set the values that tools keep between their runs (the key state of a definition).

A tool is identified by its name and its file. If the file is moved, the tool begins with its
defaults and its run has a notice; flowrun state adopt takes the values over.`,
		Example: `  flowrun state get sync
  flowrun state set sync LAST_ID=1200
  flowrun state history sync LAST_ID`,
	}
	c.AddCommand(getCommand(env), setCommand(env), adoptCommand(env), listCommand(env), historyCommand(env))
	return c
}

func getCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "get TOOL [KEY]",
		Short: "Show the current values of a tool, or print one of them",
		Long: `Show the values that the next run of a tool reads, with their defaults if no run has set
them. With a KEY, print its value only: text as it is, everything else as JSON.`,
		Example: `  flowrun state get sync
  flowrun state get sync LAST_ID`,
		Args: toolAndKey("give a tool, and at most one key"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := open(env, args[0])
			if err != nil {
				return err
			}
			if err := t.checkKeys(args[1:]); err != nil {
				return err
			}
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				current, err := s.State(ctx, t.id)
				if err != nil {
					return err
				}
				all, err := s.State(ctx, history.StateID{})
				if err != nil {
					return err
				}
				if lost := keptstate.Lost(all, t.id); len(lost) > 0 {
					env.Notef("%s", notice.OfLostState(t.id, lost).Message)
				}
				values := rundocs.WithDefaults(t.defaults, current)
				if len(args) == 1 {
					return show(env, values, output, false)
				}
				values = slices.DeleteFunc(values, func(v history.StateValue) bool { return v.Key != args[1] })
				if output == "json" {
					return ui.WriteJSON(env, rundocs.StateOf(values))
				}
				fmt.Fprintln(env.Stdout, plain(values[0].Value))
				return nil
			})
		},
		ValidArgsFunction: complete.Tool(env),
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func setCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "set TOOL KEY=VALUE...",
		Short: "Set values of a tool",
		Long: `Set values that the next run of a tool reads. KEY=VALUE is converted to the type of the key;
KEY:=JSON takes any JSON value. All values are set, or none.

A run that has already read an old value and sets it fails when it ends, unless the key has a
merge. The change is noted in the history of the key, with your name.`,
		Example: `  flowrun state set sync LAST_ID=1200
  flowrun state set sync 'SEEN:=["a", "b"]'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return ui.Usagef(c, "give a tool, and at least one KEY=VALUE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			t, err := open(env, args[0])
			if err != nil {
				return err
			}
			changes, err := t.changes(c, args[1:])
			if err != nil {
				return err
			}
			return change(env, func(ctx context.Context, s history.Store) error { return s.SetState(ctx, changes) })
		},
		ValidArgsFunction: complete.Tool(env),
	}
}

// change calls f with the store whose values are changed.
func change(env *ui.Env, f func(context.Context, history.Store) error) error {
	return engines.Act(env, func(ctx context.Context, s history.Store, _ ui.History) error { return f(ctx, s) })
}

func adoptCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "adopt TOOL",
		Short: "Take over the values of a tool whose file has moved",
		Long: `Take over the values that a tool had before its file was moved. The tool must have none yet,
and a file that does not exist any more must have values of a tool of this name; of several
such files it is the one whose values were set last. They stay in the history of that file.`,
		Example: `  mv ~/shop ~/new/shop && cd ~/new/shop && flowrun state adopt sync`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "give a tool")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := open(env, args[0])
			if err != nil {
				return err
			}
			return change(env, func(ctx context.Context, s history.Store) error {
				all, err := s.State(ctx, history.StateID{})
				if err != nil {
					return err
				}
				lost := keptstate.Lost(all, t.id)
				if len(lost) == 0 {
					return fmt.Errorf("there are no values to take over for tool %s: it has values, or no file that does not exist any more had some; flowrun state list shows all", t.id.Tool)
				}
				var changes []dag.StateChange
				for _, v := range lost {
					if slices.Contains(t.names(), v.Key) {
						changes = append(changes, dag.StateChange{Tool: t.id.Tool, File: t.id.File, Key: v.Key, Value: v.Value})
					}
				}
				if err := s.SetState(ctx, changes); err != nil {
					return err
				}
				env.Notef("took over %s of %s", plural.Of(len(changes), "value"), lost[0].File)
				return nil
			})
		},
		ValidArgsFunction: complete.Tool(env),
	}
}

func listCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the values of all tools",
		Long:    "List the values that runs and people have set, of all tools. Defaults are not listed.",
		Example: "  flowrun state list -o json",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return ui.Usagef(c, "list takes no arguments; flowrun state get shows one tool")
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error {
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				values, err := s.State(ctx, history.StateID{})
				if err != nil {
					return err
				}
				return show(env, values, output, true)
			})
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func historyCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "history TOOL [KEY]",
		Short: "Show who set the values of a tool",
		Long: `Show the last 50 values of each key, or of one, newest first, with the run or the person that
set them.`,
		Example: "  flowrun state history sync LAST_ID",
		Args:    toolAndKey("give a tool, and at most one key"),
		RunE: func(_ *cobra.Command, args []string) error {
			t, err := open(env, args[0])
			if err != nil {
				return err
			}
			if err := t.checkKeys(args[1:]); err != nil {
				return err
			}
			return engines.Read(env, func(ctx context.Context, s history.Store) error {
				values, err := s.StateHistory(ctx, t.id, strings.Join(args[1:], ""))
				if err != nil {
					return err
				}
				return show(env, values, output, false)
			})
		},
		ValidArgsFunction: complete.Tool(env),
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func toolAndKey(message string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < 1 || len(args) > 2 {
			return ui.Usagef(c, "%s", message)
		}
		return nil
	}
}

// keeper is a tool that keeps values.
type keeper struct {
	id       history.StateID
	keys     []*tool.StateKey
	defaults []history.StateValue
}

func open(env *ui.Env, name string) (*keeper, error) {
	p, err := ui.Compile(env, name)
	if err != nil {
		return nil, err
	}
	t := &keeper{p.StateID(), p.Tools()[0].Definition.State, p.StateDefaults()}
	if len(t.keys) == 0 {
		return nil, fmt.Errorf("tool %s keeps no state; its definition has no key state", p.Name())
	}
	return t, nil
}

func (t *keeper) names() []string {
	names := make([]string, len(t.keys))
	for i, k := range t.keys {
		names[i] = k.Name
	}
	return names
}

func (t *keeper) checkKeys(keys []string) error {
	for _, key := range keys {
		if !slices.Contains(t.names(), key) {
			msg := fmt.Sprintf("the state of tool %s has no value %q", t.id.Tool, key)
			if near := diagnostic.Near(key, t.names()); len(near) > 0 {
				return fmt.Errorf("%s; did you mean %q?", msg, near[0])
			}
			return fmt.Errorf("%s; it has %s", msg, strings.Join(t.names(), ", "))
		}
	}
	return nil
}

// changes reads the arguments KEY=VALUE and KEY:=JSON.
func (t *keeper) changes(c *cobra.Command, words []string) ([]dag.StateChange, error) {
	var list []dag.StateChange
	for _, word := range words {
		name, text, ok := strings.Cut(word, "=")
		if !ok || name == "" {
			return nil, ui.Usagef(c, "unexpected argument %q: write values as KEY=VALUE", word)
		}
		e := stepfile.Entry{Name: strings.TrimSuffix(name, ":"), Value: text, Text: true}
		if strings.HasSuffix(name, ":") {
			if err := ui.DecodeJSON([]byte(text), &e.Value); err != nil {
				return nil, fmt.Errorf("the value of %s is not JSON: %w", e.Name, err)
			}
			e.Text = false
		}
		if err := t.checkKeys([]string{e.Name}); err != nil {
			return nil, err
		}
		k := t.keys[slices.Index(t.names(), e.Name)]
		v, err := stepfile.Declaration{Name: k.Name, Type: k.Type}.Typed(e)
		if err != nil {
			return nil, fmt.Errorf("cannot set %s: %w", k.Name, err)
		}
		value, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		list = append(list, dag.StateChange{Tool: t.id.Tool, File: t.id.File, Key: k.Name, Value: value})
	}
	return list, nil
}

// show prints values as a table or as JSON.
func show(env *ui.Env, values []history.StateValue, output string, tools bool) error {
	if output == "json" {
		return ui.WriteJSON(env, rundocs.StateOf(values))
	}
	if len(values) == 0 {
		env.Notef("no values were set")
		return nil
	}
	head := []console.Column{{Title: "KEY"}, {Title: "VALUE", Yields: 4, Prose: true}, {Title: "SET BY", Yields: 3, Whole: true}, {Title: "WHEN", Yields: 2, Whole: true}}
	if tools {
		head = append([]console.Column{{Title: "TOOL"}, {Title: "FILE", Yields: 1}}, head...)
	}
	now := time.Now()
	rows := make([][]string, len(values))
	for i, v := range values {
		by, at := "default", ""
		if v.Version > 0 {
			by, at = cmp.Or(v.By, "run "+v.Run), console.Age(now.Sub(v.At))+" ago"
		}
		rows[i] = []string{v.Key, short(plain(v.Value)), by, at}
		if tools {
			rows[i] = append([]string{v.Tool, v.File}, rows[i]...)
		}
	}
	return ui.Table(env, head, rows, nil)
}

// plain returns a text as it is, and other values as JSON.
func plain(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return text
	}
	return string(v)
}

// short returns the beginning of a long value, on one line.
func short(s string) string {
	const most = 60
	line, _, more := strings.Cut(s, "\n")
	if r := []rune(line); len(r) > most {
		line, more = string(r[:most]), true
	}
	if more {
		line += "..."
	}
	return line
}
