package servers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/model/servername"
	"github.com/flowrun/flowrun/internal/os/editedfile"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
)

// addFlags are the flags of flowrun mcp add.
type addFlags struct {
	project, trust, sse       bool
	env, headers              []string
	include, exclude          []string
	cwd, description, timeout string
}

func addCommand(env *ui.Env) *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "add NAME (URL | -- COMMAND [ARGUMENT ...])",
		Short: "Add an MCP server to the settings",
		Long: `Add an MCP server to your settings, or with --project to those of the project. The server is a
program to start, after --, or a URL. Comments in the file stay.

Write secrets as $NAME in single quotes: flowrun replaces it by its environment variable when
it connects.`,
		Example: `  flowrun mcp add files -- npx -y @modelcontextprotocol/server-filesystem /srv
  flowrun mcp add github https://api.example.com/mcp --header 'Authorization=Bearer $TOKEN'
  flowrun mcp add --project --env 'KEY=$KEY' search -- ./search-server`,
		RunE:              func(c *cobra.Command, args []string) error { return add(env, c, args, f) },
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	fl := c.Flags()
	fl.BoolVar(&f.project, "project", false, "add it to the settings of the project")
	fl.BoolVar(&f.trust, "trust", false, "its tools need no approval until they change")
	fl.BoolVar(&f.sse, "sse", false, "the URL is that of an older server, which uses SSE")
	fl.StringArrayVar(&f.env, "env", nil, "environment variable of the program, as `NAME=VALUE`")
	fl.StringArrayVar(&f.headers, "header", nil, "header of the requests, as `NAME=VALUE`")
	fl.StringArrayVar(&f.include, "include", nil, "use only this `tool` of the server")
	fl.StringArrayVar(&f.exclude, "exclude", nil, "do not use this `tool` of the server")
	fl.StringVar(&f.cwd, "cwd", "", "working directory of the program")
	fl.StringVar(&f.description, "description", "", "what the server is for")
	fl.StringVar(&f.timeout, "timeout", "", "how long a call may take, a `time` such as 30s (default: 10m)")
	return c
}

func add(env *ui.Env, c *cobra.Command, args []string, f addFlags) error {
	keys, err := f.keys(c, args)
	if err != nil {
		return err
	}
	file, err := f.file()
	if err != nil {
		return err
	}
	if err := config.AddServer(file, args[0], keys); err != nil {
		return fmt.Errorf("cannot add the MCP server: %w", err)
	}
	env.Notef("added the MCP server %s to %s; to try it: flowrun mcp test %s", args[0], console.ShortPath(file.Path), shellword.Sh(args[0]))
	if f.project {
		env.Notef("it is used when you trust the project: flowrun trust")
	}
	return nil
}

// keys returns the settings of the server.
func (f addFlags) keys(c *cobra.Command, args []string) (keys []config.ServerKey, err error) {
	program := c.ArgsLenAtDash() == 1 && len(args) > 1
	switch {
	case len(args) == 0 || c.ArgsLenAtDash() > 1 || c.ArgsLenAtDash() == 0:
		return nil, ui.Usagef(c, "give a name, and then a URL, or -- and a command")
	case !program && (len(args) != 2 || !strings.Contains(args[1], "://")):
		return nil, ui.Usagef(c, "after the name, give a URL, or -- and a command")
	case program && (f.sse || len(f.headers) > 0):
		return nil, ui.Usagef(c, "--sse and --header are for a URL")
	case !program && (len(f.env) > 0 || f.cwd != ""):
		return nil, ui.Usagef(c, "--env and --cwd are for a command")
	}
	if err := servername.Check(args[0]); err != nil {
		return nil, ui.Usagef(c, "%q cannot be the name of a server: %v", args[0], err)
	}
	set := func(key string, value any) { keys = append(keys, config.ServerKey{Key: key, Value: value}) }
	switch {
	case program:
		if set("command", args[1]); len(args) > 2 {
			set("args", args[2:])
		}
	case f.sse:
		set("type", "sse")
		set("url", args[1])
	default:
		set("httpUrl", args[1])
	}
	return f.more(c, keys)
}

// more adds the settings of the flags.
func (f addFlags) more(c *cobra.Command, keys []config.ServerKey) ([]config.ServerKey, error) {
	set := func(key string, value any) { keys = append(keys, config.ServerKey{Key: key, Value: value}) }
	for _, m := range []struct {
		key, flag string
		words     []string
	}{{"env", "env", f.env}, {"headers", "header", f.headers}} {
		values := map[string]string{}
		for _, w := range m.words {
			name, value, ok := strings.Cut(w, "=")
			if !ok || name == "" {
				return nil, ui.Usagef(c, "--%s: write NAME=VALUE, not %q", m.flag, w)
			}
			values[name] = value
		}
		if len(values) > 0 {
			set(m.key, values)
		}
	}
	for _, t := range []struct{ key, text string }{{"cwd", f.cwd}, {"description", f.description}, {"timeout", f.timeout}} {
		if t.text != "" {
			set(t.key, t.text)
		}
	}
	if _, err := time.ParseDuration(f.timeout); err != nil && f.timeout != "" {
		return nil, ui.Usagef(c, "--timeout: write a time such as 30s, not %q", f.timeout)
	}
	for _, l := range []struct {
		key   string
		words []string
	}{{"includeTools", f.include}, {"excludeTools", f.exclude}} {
		if len(l.words) > 0 {
			set(l.key, l.words)
		}
	}
	if f.trust {
		set("trust", true)
	}
	return keys, nil
}

// file returns the settings file to change.
func (f addFlags) file() (*editedfile.File, error) {
	c, err := ui.LoadSettings(false)
	if err != nil {
		return nil, err
	}
	path, project := config.UserFile(), c.Trust.Folder
	switch {
	case f.project && project == "":
		return nil, errors.New("there is no project here; flowrun init makes one")
	case f.project:
		return editedfile.ReadProject(project, config.ProjectFile(project))
	case path == "":
		return nil, errors.New("there is no folder for your settings, because the home directory is unknown")
	}
	return editedfile.ReadUser(path)
}

func removeCommand(env *ui.Env) *cobra.Command {
	var f addFlags
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove an MCP server from the settings",
		Long: `Remove an MCP server from your settings, or with --project from those of the project. Comments
in the file stay.`,
		Example: `  flowrun mcp remove files
  flowrun mcp remove --project search`,
		Args:              oneServer,
		ValidArgsFunction: completeServer,
		RunE: func(_ *cobra.Command, args []string) error {
			file, err := f.file()
			if err != nil {
				return err
			}
			err = config.RemoveServer(file, args[0])
			if errors.Is(err, config.ErrNoServer) {
				return ui.Missing(fmt.Errorf("%s has no MCP server %q; to see where it is set: flowrun config list --show-origin", console.ShortPath(file.Path), args[0]))
			}
			if err != nil {
				return fmt.Errorf("cannot remove the MCP server: %w", err)
			}
			env.Notef("removed the MCP server %s from %s", args[0], console.ShortPath(file.Path))
			return nil
		},
	}
	c.Flags().BoolVar(&f.project, "project", false, "remove it from the settings of the project")
	return c
}
