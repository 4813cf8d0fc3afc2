package servers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
)

// The states of a server.
const (
	stateReady   = "ready"
	stateFailed  = "failed"
	stateIgnored = "ignored"
)

// serverJSON is a server in the output of flowrun mcp list -o json.
type serverJSON struct {
	Name     string `json:"name"`
	State    string `json:"state"` // ready, failed or ignored
	Problem  string `json:"problem,omitempty"`
	Tools    int    `json:"tools"` // that can be used
	Trusted  bool   `json:"trusted"`
	About    string `json:"description,omitempty"` // of the settings
	Program  string `json:"program,omitempty"`     // as the server describes itself
	Protocol string `json:"protocol,omitempty"`    // version
}

const serversSchema = "flowrun/servers.v1"

// serversJSON is the output of flowrun mcp list -o json and flowrun mcp test -o json.
type serversJSON struct {
	Schema  string       `json:"schema"`
	Servers []serverJSON `json:"servers"`
}

func serverOf(s mcpclient.Status) serverJSON {
	doc := serverJSON{Name: s.Config.Name, State: stateReady, Problem: s.Problem, Trusted: s.Config.Trust, About: s.Config.Description, Program: s.Program, Protocol: s.Protocol}
	if s.Problem != "" {
		doc.State = stateFailed
	}
	for _, o := range s.Offers {
		if o.Problem == "" {
			doc.Tools++
		}
	}
	return doc
}

func ignoredOf(s ui.IgnoredServer) serverJSON {
	doc := serverJSON{Name: s.Name, State: stateIgnored, Problem: s.Why}
	if s.Unusable {
		doc.State = stateFailed
	}
	return doc
}

func listCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers of the settings",
		Long: `Connect all MCP servers of the settings (mcpServers), and list them with their state. Servers
that the settings exclude, and those of a project that is not trusted, are listed as ignored.`,
		Example: `  flowrun mcp list
  flowrun mcp list -o json`,
		Args: ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := listed(env)
			if err != nil {
				return err
			}
			if output == "json" {
				return ui.WriteJSON(env, serversJSON{serversSchema, list})
			}
			return printServers(env, list)
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// listed returns all servers, sorted by name.
func listed(env *ui.Env) ([]serverJSON, error) {
	env.QuietServers() // the list has the problems
	all, err := statuses(env, nil)
	if err != nil {
		return nil, err
	}
	list := []serverJSON{}
	for _, s := range all {
		list = append(list, serverOf(s))
	}
	c, err := ui.LoadSettings(false)
	if err != nil {
		return nil, err
	}
	for _, s := range ui.IgnoredServers(c) {
		list = append(list, ignoredOf(s))
	}
	slices.SortStableFunc(list, func(a, b serverJSON) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

func printServers(env *ui.Env, list []serverJSON) error {
	if len(list) == 0 {
		env.Notef("there are no MCP servers; to add one: flowrun mcp add")
		return nil
	}
	rows := make([][]string, len(list))
	for i, s := range list {
		note := strings.ReplaceAll(cmp.Or(s.Problem, s.About, s.Program), "\n", " ")
		rows[i] = []string{s.Name, s.State, strconv.Itoa(s.Tools), note}
	}
	return ui.Table(env, []console.Column{{Title: "NAME"}, {Title: "STATE"}, {Title: "TOOLS", Yields: 1, Whole: true}, {Title: "NOTE", Yields: 2, Prose: true}}, rows, nil)
}

// toolJSON is a tool in the output of flowrun mcp tools -o json.
type toolJSON struct {
	Name        string `json:"name"` // in flowrun
	Tool        string `json:"tool"` // on the server
	Description string `json:"description"`
	Trusted     bool   `json:"trusted"`
	Changed     bool   `json:"changed"`           // since the server was trusted
	Problem     string `json:"problem,omitempty"` // why it cannot be used
}

func toolsCommand(env *ui.Env) *cobra.Command {
	var output string
	var accept bool
	c := &cobra.Command{
		Use:   "tools SERVER",
		Short: "List the tools of an MCP server",
		Long: `Connect an MCP server and list its tools, also those that cannot be used, with the reason.

If a server is trusted, its tools need no approval until they change. --accept accepts the
tools as they are now.`,
		Example: `  flowrun mcp tools github
  flowrun mcp tools github --accept
  flowrun mcp tools github -o json`,
		Args:              oneServer,
		ValidArgsFunction: completeServer,
		RunE: func(_ *cobra.Command, args []string) error {
			env.QuietServers()
			if accept {
				if err := acceptTools(env, args[0]); err != nil {
					return err
				}
			}
			list, err := statuses(env, args)
			if err != nil {
				return err
			}
			return printTools(env, list[0], output)
		},
	}
	c.Flags().BoolVar(&accept, "accept", false, "accept the tools as they are now, if the server is trusted")
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// acceptTools accepts the tools of a server as they are now.
func acceptTools(env *ui.Env, server string) (err error) {
	list, err := statuses(env, []string{server})
	switch {
	case err != nil:
		return err
	case !list[0].Config.Trust:
		return fmt.Errorf("the MCP server %q is not trusted, so its tools need approval; trust: true in its settings trusts it", server)
	}
	env.WithServers(func(c *mcpclient.Client) { err = c.Accept(server) })
	return err
}

func printTools(env *ui.Env, s mcpclient.Status, output string) error {
	if s.Problem != "" {
		return fmt.Errorf("MCP server %s: %s", s.Config.Name, s.Problem)
	}
	docs := []toolJSON{}
	for _, o := range s.Offers {
		docs = append(docs, toolJSON{o.Name, o.Tool, o.Description, o.Trusted, o.Changed, o.Problem})
	}
	if output == "json" {
		return ui.WriteJSON(env, struct {
			Schema string     `json:"schema"`
			Server string     `json:"server"`
			Tools  []toolJSON `json:"tools"`
		}{"flowrun/server-tools.v1", s.Config.Name, docs})
	}
	rows := make([][]string, len(docs))
	for i, d := range docs {
		note, _, _ := strings.Cut(d.Description, "\n")
		switch {
		case d.Problem != "":
			note = "(not used: " + d.Problem + ")"
		case d.Changed:
			note = "(changed since the server was trusted) " + note
		}
		rows[i] = []string{d.Name, note}
	}
	return ui.Table(env, []console.Column{{Title: "NAME"}, {Title: "DESCRIPTION", Yields: 1, Prose: true}}, rows, nil)
}

func testCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "test [SERVER ...]",
		Short: "Connect MCP servers and report problems",
		Long: `Connect the named MCP servers, or all of the settings, and report what does not work. The
exit code is 1 if a server cannot be used.`,
		Example: `  flowrun mcp test
  flowrun mcp test github`,
		ValidArgsFunction: completeServer,
		RunE: func(_ *cobra.Command, args []string) error {
			env.QuietServers()
			list, err := statuses(env, args)
			if err != nil {
				return err
			}
			c, err := ui.LoadSettings(false)
			if err != nil {
				return err
			}
			return report(env, c, list, len(args) == 0, output)
		},
	}
	ui.OutputFlag(c, &output, "text", "json")
	return c
}

// report prints the result of a test. A test of all servers has those of which flowrun can use nothing.
func report(env *ui.Env, c *config.Config, list []mcpclient.Status, all bool, output string) error {
	docs := []serverJSON{}
	for _, s := range list {
		docs = append(docs, serverOf(s))
	}
	for _, s := range ui.IgnoredServers(c) {
		if all && s.Unusable {
			docs = append(docs, ignoredOf(s))
		}
	}
	if output == "json" {
		if err := ui.WriteJSON(env, serversJSON{serversSchema, docs}); err != nil {
			return err
		}
	} else {
		for i, doc := range docs {
			if doc.State == stateFailed {
				fmt.Fprintf(env.Stdout, "%s: failed: %s\n", doc.Name, doc.Problem)
			} else {
				printTest(env, list[i], doc)
			}
			if i >= len(list) {
				continue
			}
			for _, note := range ui.ServerNotes(c, doc.Name) {
				fmt.Fprintf(env.Stdout, "  %s\n", note)
			}
		}
	}
	if slices.ContainsFunc(docs, func(doc serverJSON) bool { return doc.State == stateFailed }) {
		return ui.CodeError(outcome.ExitFailed)
	}
	return nil
}

// printTest prints what is known of a server that works.
func printTest(env *ui.Env, s mcpclient.Status, doc serverJSON) {
	fmt.Fprintf(env.Stdout, "%s: ok: %s, protocol %s, %s\n", s.Config.Name, s.Program, s.Protocol, plural.Of(doc.Tools, "tool"))
	for _, o := range s.Offers {
		switch {
		case o.Problem != "":
			fmt.Fprintf(env.Stdout, "  %s is not used: %s\n", o.Tool, o.Problem)
		case o.Changed:
			fmt.Fprintf(env.Stdout, "  %s has changed since the server was trusted\n", o.Tool)
		}
		for _, note := range o.Notes {
			fmt.Fprintf(env.Stdout, "  %s %s\n", o.Tool, note)
		}
	}
}
