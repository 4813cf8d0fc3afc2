package settings

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
)

func configCommand(env *ui.Env) *cobra.Command {
	c := ui.Group(&cobra.Command{
		Use:   "config",
		Short: "Show the settings and where they come from",
		Long: `Show flowrun's settings. flowrun reads them from these places. A later one overrides an
earlier one:

  /etc/flowrun/config.yaml              settings of the machine
  ~/.config/flowrun/config.yaml         your settings (in $XDG_CONFIG_HOME if it is set)
  .flowrun/config.yaml                  settings of the project
  FLOWRUN_GRACE=3s, ...                 environment variables, one for each setting
  flags                                 of the command

Keys: ` + strings.Join(config.Keys(), ", "),
		Example: `  flowrun config list --show-origin
  flowrun config get grace
  flowrun schema config > config.schema.json`,
	})
	c.AddCommand(configListCommand(env), configGetCommand(env), configPathCommand(env))
	return c
}

func configListCommand(env *ui.Env) *cobra.Command {
	var origin bool
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List all settings",
		Long: `List the values of all settings, including defaults. Lists from several files are combined.
Settings that a project may change only when it is trusted (flowrun trust) are marked as
ignored.`,
		Example: `  flowrun config list
  flowrun config list --show-origin
  flowrun config list -o json | jq '.values[] | select(.ignored)'`,
		Args: ui.NoArgs,
		RunE: func(_ *cobra.Command, _ []string) error {
			conf, err := ui.LoadSettings(false)
			if err != nil {
				return err
			}
			if output == "json" {
				return ui.WriteJSON(env, configJSON(conf))
			}
			return listConfig(env, conf, origin)
		},
	}
	c.Flags().BoolVar(&origin, "show-origin", false, "show where each value was set: file and line, variable, or default")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

func listConfig(env *ui.Env, c *config.Config, origin bool) error {
	head := []console.Column{{Title: "KEY"}, {Title: "VALUE", Yields: 2, Prose: true}}
	if origin {
		head = append(head, console.Column{Title: "ORIGIN", Yields: 1})
	}
	var rows [][]string
	for _, v := range c.All() {
		row := []string{v.Key, v.Shown()}
		if v.Ignored {
			row[1] += " (ignored: the project is not trusted)"
		}
		if origin {
			row = append(row, v.Origin.String())
		}
		rows = append(rows, row)
	}
	return ui.Table(env, head, rows, nil)
}

type configValueJSON struct {
	Key     string           `json:"key"`
	Value   any              `json:"value"` // durations in milliseconds, sizes in bytes; null if not set
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
	}{"flowrun/config-values.v1", []configValueJSON{}}
	for _, v := range c.All() {
		o := v.Origin
		doc.Values = append(doc.Values, configValueJSON{v.Key, v.JSON(), configOriginJSON{o.Layer, o.Pos.File, o.Pos.Line, o.Variable}, v.Ignored})
	}
	return doc
}

func configGetCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "get KEY",
		Short: "Print the value of a setting",
		Long: `Print the value of one setting. A list is printed with one value per line. A section
(history) is printed as KEY=value lines. If the setting is not set, nothing is printed on
standard output, and the default on standard error.`,
		Example: `  flowrun config get grace
  flowrun config get approvals.deny`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return ui.Usagef(c, "give one key; the keys are %s", strings.Join(config.Keys(), ", "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			conf, err := ui.LoadSettings(false)
			if err != nil {
				return err
			}
			list := conf.Get(args[0])
			if len(list) == 0 && !isKey(args[0]) {
				return ui.Missing(fmt.Errorf("unknown setting %q%s", args[0], suggestKey(args[0])))
			}
			if len(list) == 0 {
				list = slices.DeleteFunc(conf.All(), func(v config.Value) bool { return !within(v.Key, args[0]) })
			}
			for _, v := range list {
				switch {
				case v.Ignored:
					env.Notef("%s: the value %s (%s) is ignored, because the project is not trusted; to trust it: flowrun trust", v.Key, v.Shown(), v.Origin)
				case v.Value == nil && v.Shown() == config.NotSet:
					env.Notef("%s is not set", v.Key)
				case v.Value == nil:
					env.Notef("%s is not set; the default is: %s", v.Key, v.Shown())
				case v.Key == args[0]:
					fmt.Fprintln(env.Stdout, v.Shown())
				default:
					fmt.Fprintf(env.Stdout, "%s=%s\n", v.Key, v.Shown())
				}
			}
			return nil
		},
		ValidArgsFunction: cobra.FixedCompletions(config.Keys(), cobra.ShellCompDirectiveNoFileComp),
	}
}

// isKey reports whether a word is a key, or a section of keys.
func isKey(key string) bool {
	return slices.ContainsFunc(config.Keys(), func(k string) bool { return within(k, key) })
}

// within reports whether a key is the given one, or in that section.
func within(key, section string) bool { return key == section || strings.HasPrefix(key, section+".") }

func suggestKey(key string) string {
	return cmp.Or(ui.NearestAs("%s", key, config.Keys()), "; the settings are "+strings.Join(config.Keys(), ", "))
}

func configPathCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "path",
		Short:   "List the settings files, highest precedence first",
		Example: "  flowrun config path",
		Args:    ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			conf, err := ui.LoadSettings(false)
			if output == "json" {
				return cmp.Or(ui.WriteJSON(env, filesJSON(conf)), err)
			}
			for _, f := range conf.Files {
				note := ""
				if !f.Exists {
					note = "\t(does not exist)"
				}
				fmt.Fprintf(env.Stdout, "%s\t%s%s\n", f.Layer, f.Path, note)
			}
			return err
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

type configFileJSON struct {
	Layer  config.Layer `json:"layer"`
	Path   string       `json:"path"`
	Exists bool         `json:"exists"`
}

func filesJSON(c *config.Config) any {
	doc := struct {
		Schema string           `json:"schema"`
		Files  []configFileJSON `json:"files"`
	}{"flowrun/config-files.v1", []configFileJSON{}}
	for _, f := range c.Files {
		doc.Files = append(doc.Files, configFileJSON{f.Layer, f.Path, f.Exists})
	}
	return doc
}
