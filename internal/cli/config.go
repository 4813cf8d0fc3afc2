package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/policy"
	"github.com/flowrun/flowrun/tool"
)

// configuration reads the settings in force. trusted is --trust-project.
func (env *Env) configuration(trusted bool) (*config.Config, error) {
	c, err := config.Load(config.Options{StateDir: flowrun.DefaultStateDir(), TrustProject: trusted})
	var found tool.Diagnostics
	if err != nil {
		found, _ = err.(tool.Diagnostics)
	}
	found = append(found, badCommands(c)...)
	for _, v := range c.Values {
		if v.Key != "approvals.allow" && v.Key != "approvals.deny" {
			continue
		}
		if _, bad := policy.ParsePattern(v.Text(), ""); bad != nil {
			at := v.Origin.Pos
			if at.File == "" {
				at.File = v.Origin.String()
			}
			found = append(found, tool.Diagnostic{Code: "bad-approval", Severity: tool.Error, Pos: at, Len: len([]rune(v.Text())), Path: v.Key, Message: bad.Error()})
		}
	}
	return c, found.Sorted().Err()
}

func (env *Env) configCommand() *cobra.Command {
	c := group(&cobra.Command{
		Use:   "config",
		Short: "Show flowrun's settings and where they come from",
		Long: `Show flowrun's settings. They come from .flowrun/config.yaml of the project,
$XDG_CONFIG_HOME/flowrun/config.yaml (~/.config) of the user and
/etc/flowrun/config.yaml of the machine; the environment is stronger than all of
them (FLOWRUN_GRACE=3s, FLOWRUN_HISTORY_KEEP=100), and flags are stronger still.

Keys: ` + strings.Join(config.Keys(), ", "),
		Example: `  flowrun config list --show-origin
  flowrun config get grace
  flowrun schema config > config.schema.json`,
	})
	c.AddCommand(env.configListCommand(), env.configGetCommand(), env.configPathCommand())
	return c
}

func (env *Env) configListCommand() *cobra.Command {
	var origin bool
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List every setting in force",
		Long: `List every setting in force, the defaults included. Lists of several files add up.
What a project sets and may not without its trust (flowrun trust) is listed as ignored.`,
		Example: `  flowrun config list
  flowrun config list --show-origin
  flowrun config list -o json | jq '.values[] | select(.ignored)'`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := oneOf(c, "output", output, []string{"table", "json"}); err != nil {
				return err
			}
			conf, err := env.configuration(false)
			if err != nil {
				return err
			}
			if output == "json" {
				return env.writeJSON(configJSON(conf))
			}
			return env.listConfig(conf, origin)
		},
	}
	c.Flags().BoolVar(&origin, "show-origin", false, "show where each value was set: file and line, variable, or default")
	c.Flags().StringVarP(&output, "output", "o", "table", "print in this `form`: table|json")
	c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func (env *Env) listConfig(c *config.Config, origin bool) error {
	head := []string{"KEY", "VALUE"}
	if origin {
		head = append(head, "ORIGIN")
	}
	var rows [][]string
	for _, v := range c.Values {
		row := []string{v.Key, v.Shown()}
		if v.Ignored {
			row[1] += " (ignored: the project is not trusted)"
		}
		if origin {
			row = append(row, v.Origin.String())
		}
		rows = append(rows, row)
	}
	return console.Table(env.Stdout, head, rows, console.TableOptions{Width: env.width()})
}

type configValueJSON struct {
	Key     string           `json:"key"`
	Value   any              `json:"value"` // durations in milliseconds, sizes in bytes
	Origin  configOriginJSON `json:"origin"`
	Ignored bool             `json:"ignored,omitempty"`
}

type configOriginJSON struct {
	Layer    config.Layer `json:"layer"`
	File     string       `json:"file,omitempty"`
	Line     int          `json:"line,omitempty"`
	Variable string       `json:"variable,omitempty"`
}

func configJSON(c *config.Config) any {
	doc := struct {
		Schema string            `json:"schema"`
		Values []configValueJSON `json:"values"`
	}{"flowrun/config.v1", []configValueJSON{}}
	for _, v := range c.Values {
		o := v.Origin
		doc.Values = append(doc.Values, configValueJSON{v.Key, v.JSON(), configOriginJSON{o.Layer, o.Pos.File, o.Pos.Line, o.Variable}, v.Ignored})
	}
	return doc
}

func (env *Env) configGetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "get KEY",
		Short: "Print the value of a setting",
		Long: `Print the value of one setting in force, a list one value a line. A section
(history) prints its settings as KEY=value. One that is not set prints nothing.`,
		Example: `  flowrun config get grace
  flowrun config get approvals.deny`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef(c, "give one key; the keys are %s", strings.Join(config.Keys(), ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			conf, err := env.configuration(false)
			if err != nil {
				return err
			}
			list := conf.Get(args[0])
			if len(list) == 0 && !known(args[0]) {
				return missing(fmt.Errorf("there is no setting %q%s", args[0], nearOr(args[0])))
			}
			for _, v := range list {
				if v.Key == args[0] {
					fmt.Fprintln(env.Stdout, v.Shown())
				} else {
					fmt.Fprintf(env.Stdout, "%s=%s\n", v.Key, v.Shown())
				}
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(config.Keys(), cobra.ShellCompDirectiveNoFileComp),
	}
}

// known says whether a word is a key, or a section of keys.
func known(key string) bool {
	return slices.ContainsFunc(config.Keys(), func(k string) bool { return k == key || strings.HasPrefix(k, key+".") })
}

func nearOr(key string) string {
	return cmp.Or(nearestAs("%s", key, config.Keys()), "; the settings are "+strings.Join(config.Keys(), ", "))
}

func (env *Env) configPathCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "List the files that settings are looked for in, the strongest first",
		Example: "  flowrun config path",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			conf, err := env.configuration(false)
			for _, f := range conf.Files {
				note := ""
				if !f.Exists {
					note = "\t(not there)"
				}
				fmt.Fprintf(env.Stdout, "%s\t%s%s\n", f.Layer, f.Path, note)
			}
			return err
		},
	}
}
