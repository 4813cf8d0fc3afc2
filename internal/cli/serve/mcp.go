package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/service/toolset"
)

// mcpFlags are the flags of flowrun mcp.
type mcpFlags struct {
	launch.ConsentFlags
	listenFlags
	directory string
	toolsets  []string
	stateless bool
	filter    mcp.Filter
	readOnly  bool
	timeout   time.Duration
}

func mcpCommand(env *ui.Env, web Web) *cobra.Command {
	f := mcpFlags{ConsentFlags: launch.ConsentFlags{EntryPoint: policy.MCP}}
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve the tools to a client of the Model Context Protocol",
		Long: `Serve the tools that are available in the current directory to one client of the Model
Context Protocol (MCP), such as an editor or an assistant. The client starts this command
and talks to it over stdin and stdout; messages for people go to stderr.

Every tool is a tool of the protocol, with its parameters, and the tool execute_tool calls
any of them by name. If the arguments of a call are not valid but have only one reading,
flowrun repairs them. The list of tools follows the files. Tools of a project run in the
folder of the project.

Without --tools, the tools in files are offered. With --tools, built-in and discovered
tools are offered too, if a pattern names them.

Every call needs approval, unless --auto-approve or approvals.allow of the configuration
allows it. If the client can ask its user, flowrun lets it show what would happen; otherwise
it refuses the call. Runs are recorded: flowrun runs lists them.`,
		Example: `  flowrun mcp
  flowrun mcp --auto-approve tool:read --exclude 'deploy*'
  flowrun mcp --tools 'db-*' --tools read_file --read-only`,
		Args:    ui.NoArgs,
		PreRunE: func(c *cobra.Command, _ []string) error { return f.check(c) },
		RunE:    func(c *cobra.Command, _ []string) error { return runMCP(env, c, web, f) },
	}
	fl := c.Flags()
	fl.StringVar(&f.directory, "directory", "", "offer the tools of the project in this `folder`, instead of the working directory")
	fl.StringArrayVar(&f.filter.Tools, "tools", nil, "offer only tools whose name matches this `pattern`, also built-in and discovered ones")
	fl.StringArrayVar(&f.filter.Tags, "tags", nil, "offer only tools with this `tag`")
	fl.StringArrayVar(&f.filter.Exclude, "exclude", nil, "do not offer tools whose name matches this `pattern`")
	fl.StringSliceVar(&f.toolsets, "toolset", nil, "also offer the tools of this `set`: "+strings.Join(toolset.Names(), "|"))
	c.RegisterFlagCompletionFunc("toolset", cobra.FixedCompletions(toolset.Names(), cobra.ShellCompDirectiveNoFileComp))
	fl.BoolVar(&f.readOnly, "read-only", false, "offer only tools with the tag read, whose project is trusted")
	ui.DurationFlag(c, &f.timeout, "timeout", 0, "stop a tool after this `time` (default: limits.call-timeout, 60s)")
	f.listenFlags.declare(c, "serve the client of stdin and stdout")
	fl.BoolVar(&f.stateless, "stateless", false, "with --listen, keep no sessions: each request stands alone")
	f.ConsentFlags.Declare(c)
	c.AddCommand(installCommand(env, web))
	return c
}

// check validates the flags.
func (f *mcpFlags) check(c *cobra.Command) error {
	for _, flag := range []struct {
		name string
		list []string
	}{{"tools", f.filter.Tools}, {"exclude", f.filter.Exclude}} {
		for _, p := range flag.list {
			if _, err := path.Match(p, ""); err != nil || p == "" {
				return ui.Usagef(c, "--%s: %q is not a valid pattern; use names with * and ?", flag.name, p)
			}
		}
	}
	for _, name := range f.toolsets {
		if err := ui.OneOf(c, "toolset", name, toolset.Names()); err != nil {
			return err
		}
	}
	if f.timeout < 0 || f.timeout == 0 && c.Flags().Changed("timeout") {
		return ui.Usagef(c, "--timeout must be greater than 0")
	}
	for _, name := range []string{"stateless", "token-file", "tls-cert", "tls-key"} {
		if c.Flags().Changed(name) && len(f.listen) == 0 {
			return ui.Usagef(c, "--%s needs --listen", name)
		}
	}
	return f.ConsentFlags.Check(c)
}

// runMCP serves one client until it closes stdin, or with --listen many clients, until a signal
// arrives.
func runMCP(env *ui.Env, c *cobra.Command, web Web, f mcpFlags) (err error) {
	f.NoInput, f.Progress = true, "plain"
	if f.directory != "" {
		if err := os.Chdir(f.directory); err != nil {
			return ui.Missing(fmt.Errorf("--directory: cannot use the folder %q: %w", f.directory, errors.Unwrap(err)))
		}
	}
	protocol := env.Stdout
	env.Stdout = env.Stderr // nothing else may write to the stream of the protocol
	at, err := listen(c, f.listenFlags)
	if err != nil {
		return err
	}
	defer at.close()
	if f.Settings, err = ui.RunSettings(env, f.InteractionFlags); err != nil {
		return err
	}
	if f.timeout == 0 {
		f.timeout = f.Settings.Duration("limits.call-timeout")
	}
	return env.WriteHistory(func(ctx context.Context, s ui.History) error {
		stop := notifyStop(env)
		defer stop.end()
		m := &mcpServer{env: env, flags: f, store: s, log: slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})), force: stop.second}
		return m.serve(ctx, stop, func(ctx context.Context) error {
			m.noteLimits()
			if len(f.listen) > 0 {
				return m.serveHTTP(at, web, stop)
			}
			if env.HasPerson() {
				env.Notef("waiting for the messages of a client on standard input; Ctrl-C ends the server")
			}
			return m.Serve(ctx, io.NopCloser(env.Stdin), protocol)
		})
	})
}

// serve opens the engine and the Server, and serves clients until a signal arrives or serve
// returns.
func (m *mcpServer) serve(ctx context.Context, stop *stopSignals, serve func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	config, _, err := launch.EngineConfig(m.store, m.flags.ConsentFlags, 0)
	if err != nil {
		return err
	}
	config.JavaScript = m.env.JavaScript()
	traces := launch.NewServiceTraces(m.log)
	traces.AddTo(&config)
	m.engine = engine.New(config)
	if _, err := proc.Sweep(ctx, procid.DomainOf(config.Leftovers), time.Second); err != nil {
		return err
	}
	m.open(ctx)
	go m.endCalls(ctx, stop, cancel)
	defer pruneHistory(ctx, m.env, m.store.Retention(), m.flags.ConsentFlags)()
	err = serve(ctx)
	m.Close(closedChannel())
	if lost := traces.End(context.Background(), stop.second); lost != nil {
		m.log.Warn("traces are not complete", "error", lost.Error())
	}
	return err
}

// endCalls cancels the calls in progress when a signal arrives, and then ends the session. The
// library itself waits for calls that a session has not answered.
func (m *mcpServer) endCalls(ctx context.Context, stop *stopSignals, cancel context.CancelFunc) {
	select {
	case <-stop.first:
		m.Close(closedChannel())
		cancel()
	case <-ctx.Done():
	}
}

func closedChannel() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// serveHTTP serves clients over HTTP until a signal arrives.
func (m *mcpServer) serveHTTP(at *listeners, web Web, stop *stopSignals) error {
	err := at.serve(m.env, nil, web, WebOptions{MCP: m.Handler(m.flags.stateless), Version: ui.ThisBuild().Version, Log: m.log, Stopping: stop.first})
	if err != nil {
		return err
	}
	defer at.shutdown()
	return at.wait(stop, m.log)
}
