package serve

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/complete"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/service/toolset"
	"github.com/flowrun/flowrun/internal/service/watch"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// mcpServer carries out the calls of clients of the Model Context Protocol: for flowrun mcp, and
// for the route /mcp of flowrun serve.
type mcpServer struct {
	env     *ui.Env
	flags   mcpFlags
	store   ui.History
	log     *slog.Logger
	engine  *engine.Engine
	force   <-chan struct{} // closed when steps must stop at once
	library *library.Library

	opened      sync.Once
	*mcp.Server // nil until open is called
}

// open creates the Server of the tools in files. ctx is done when the server stops.
func (m *mcpServer) open(ctx context.Context) {
	m.library = m.env.Library()
	for _, name := range m.flags.toolsets {
		tools := toolset.Tools(name, toolset.Config{Library: func() *library.Library { return m.library }, Store: m.store, StateDir: engine.DefaultStateDir(), Engine: m.engine,
			Offers: func(name string) bool { return m.Offers(name) },
			Shows:  func(ctx context.Context, r history.RunInfo) bool { return m.Shows(ctx, r) }, MayRun: m.flags.MayCall, Saved: func() { m.Refresh() },
			Options: func() []engine.RunOption {
				return []engine.RunOption{engine.WithForce(m.force), engine.WithOrigin(engine.OriginMCP), engine.WithMayCall(m.flags.MayCall)}
			}})
		m.library.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return tools })
		for _, d := range tools {
			m.flags.filter.Also = append(m.flags.filter.Also, d.Name)
		}
	}
	m.flags.EntryPoint, m.flags.Library = policy.MCP, func() *library.Library { return m.library }
	if m.flags.readOnly {
		m.flags.filter.Permits = m.readOnly
	}
	var files watch.Set
	for _, f := range m.library.Folders() {
		files.Patterns = append(files.Patterns, filepath.ToSlash(f.Path))
	}
	before := files.Take()
	scripts := m.env.JavaScript()
	m.Server = mcp.New(mcp.Config{
		Library: m.library,
		Registry: registry.Options{Engine: m.engine, Timeout: m.flags.timeout, Refused: launch.RefusalTexts(m.flags.Settings, m.env.Language()), RunEnv: func(p *engine.Plan) engine.RunEnv {
			dir := workspaceOf(p)
			return engine.RunEnv{Workspace: dir, TrustedProject: m.flags.Settings.Trust.ProjectOf(dir), JavaScript: scripts}.Until(ctx)
		}},
		Approver:   (*mcpApprover)(m),
		Observe:    m.observe,
		Filter:     m.flags.filter,
		Candidates: complete.Candidates,
		Store:      m.store,
		StateDir:   engine.DefaultStateDir(),
		Version:    ui.ThisBuild().Version,
		Log:        m.log,
	})
	go m.follow(ctx, files, before)
}

// noteLimits says what calls of the offered tools could not do.
func (m *mcpServer) noteLimits() {
	f := m.flags.filter
	offered := slices.DeleteFunc(m.library.List(), func(e library.Listed) bool {
		return !f.Selects(e.Name, e.Tags) || f.Permits != nil && !m.Offers(e.Name)
	})
	launch.NoteUntrusted(m.env, m.flags.Settings)
	launch.NoteModelLimits(m.env, launch.ListedDefinitions(m.library, offered), false)
}

// onDemand returns a handler that opens the Server at the first request: most services have no
// such clients.
func (m *mcpServer) onDemand(ctx context.Context) http.Handler {
	var handler http.Handler
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.opened.Do(func() {
			m.open(ctx)
			handler = m.Handler(false)
		})
		if handler == nil { // the service stops
			http.Error(w, "the service stops", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	})
}

// close is Close, if the Server was opened. It is not opened later.
func (m *mcpServer) close(now <-chan struct{}) {
	m.opened.Do(func() {})
	if m.Server != nil {
		m.Close(now)
	}
}

// workspaceOf returns where a tool runs: in the folder of its project, or in the home directory
// of the user. Built-in and discovered tools run in the working directory of the server.
func workspaceOf(p *engine.Plan) string {
	switch d := p.Definition; d.Scope {
	case tool.ScopeLocal:
		return library.ProjectOf(filepath.Dir(d.File))
	case tool.ScopeUser, tool.ScopeGlobal:
		dir, _ := home.Dir()
		return dir
	}
	dir, _ := os.Getwd()
	return dir
}

// observe sends the notifications of a run when it has ended.
func (m *mcpServer) observe(i *registry.Invocation) (options []engine.RunOption, ended func(context.Context, *registry.Answer)) {
	plan := i.Tool.Plan()
	options = []engine.RunOption{engine.WithForce(m.force), engine.WithTrace(launch.InheritedTrace()), engine.WithMayCall(m.flags.MayCall)} // the engine of flowrun serve has the rules for people
	return options, func(ctx context.Context, a *registry.Answer) {
		if a.Result != nil {
			n := launch.Notifier{Store: m.store, Settings: m.flags.Settings, Dir: workspaceOf(plan), Report: func(trouble string) { m.log.Warn(trouble, "run", i.Run) }}
			n.Notify(ctx, launch.RunEnd{Result: a.Result, Plan: plan})
		}
	}
}

// follow updates the list of tools when files are no longer as they were before.
func (m *mcpServer) follow(ctx context.Context, files watch.Set, before watch.Snapshot) {
	for {
		if _, err := files.Wait(ctx, before); err != nil {
			return
		}
		before = files.Take()
		m.Refresh()
	}
}
