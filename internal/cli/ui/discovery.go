package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/discovery"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/library"
)

// discoveryResult are the tools that the discovery command reports. The command runs at most once,
// when a tool is needed that is in no file, and only if its project is trusted.
type discoveryResult struct {
	mu       sync.Mutex
	ran      bool
	Tools    []*tool.Definition
	Warnings []string
	Err      error // why the command failed, or nil
	Elapsed  time.Duration
}

// discovered returns the tools that the discovery command reports. Its problems are printed once as
// warnings, and do not affect other tools.
func (env *Env) discovered() []*tool.Definition {
	t := &env.discovery
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ran {
		return t.Tools
	}
	c, err := env.currentSettings()
	if err != nil || c.Word("tools.discoveryCommand") == "" {
		return nil // invalid settings are reported where they are used
	}
	t.ran = true
	env.discover(t, c)
	if env.inJSON {
		return t.Tools
	}
	if t.Err != nil {
		env.Notef("warning: no tools were discovered: %v", t.Err)
	}
	for _, w := range t.Warnings {
		env.Notef("warning: %s", w)
	}
	return t.Tools
}

// Discover runs the discovery command of the settings, unless it has already run.
func (env *Env) Discover(c *config.Config) *discoveryResult {
	t := &env.discovery
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ran {
		t.ran = true
		env.discover(t, c)
	}
	return t
}

// discover runs the discovery command.
func (env *Env) discover(t *discoveryResult, c *config.Config) {
	start := time.Now()
	env.untilSignal(func(ctx context.Context) {
		t.Tools, t.Warnings, t.Err = discovery.Discover(ctx, discovery.Config{
			DiscoveryCommand: c.Word("tools.discoveryCommand"), CallCommand: c.Word("tools.callCommand"),
			Dir: projectDir(c), StderrFails: c.Word("tools.callStderr") == "fail",
		})
	})
	t.Elapsed = time.Since(start)
}

// untilSignal calls a function that starts programs. A signal ends its context, so that the programs
// are stopped, and then this program.
func (env *Env) untilSignal(f func(ctx context.Context)) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, TerminationSignals()...)
	var sig os.Signal
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case sig = <-signals:
			stop(fmt.Errorf("received %v", sig))
		case <-ctx.Done():
		}
	}()
	f(ctx)
	stop(nil)
	<-done
	signal.Stop(signals)
	if sig != nil && !env.handlesSignals.Load() { // no other handler will end the program
		env.EndPrograms()
		os.Exit(SignalCode(sig))
	}
}

// currentSettings returns the settings that the command has loaded, or loads them.
func (env *Env) currentSettings() (*config.Config, error) {
	if env.settings.loaded != nil {
		return env.settings.loaded, nil
	}
	return LoadSettings(env.settings.trustOnce)
}

// projectDir returns the root of the project, or the working directory if there is none.
func projectDir(c *config.Config) string {
	if c.Trust.Folder != "" {
		return c.Trust.Folder
	}
	dir, _ := os.Getwd()
	return dir
}

// missingNote returns why a name may be unknown although the discovery command or a server might
// provide it, or "".
func (env *Env) missingNote() string {
	c, err := env.currentSettings()
	if err != nil {
		return "tools.discoveryCommand may provide it, but does not run while the settings are invalid; for details: flowrun config list"
	}
	if source := ignoredSource(c); source != "" {
		return fmt.Sprintf("%s of %s may provide it, but does not run because the project is not trusted; to trust it: flowrun trust",
			source, console.Quote(c.Trust.Folder))
	}
	if failed := env.servers.failed(); len(failed) > 0 {
		return fmt.Sprintf("an MCP server may provide it, but could not be used: %s; for details: flowrun mcp test", strings.Join(failed, ", "))
	}
	env.discovery.mu.Lock()
	defer env.discovery.mu.Unlock()
	if env.discovery.Err != nil {
		return "tools.discoveryCommand may provide it, but failed; for details: flowrun doctor"
	}
	return ""
}

// ignoredSource returns the setting that provides tools but is ignored because the project is not
// trusted, or "".
func ignoredSource(c *config.Config) string {
	for _, v := range c.Values {
		if v.Ignored && (v.Key == "tools.discoveryCommand" || v.Key == commandKey) {
			return v.Key
		}
		if section, _, _ := strings.Cut(v.Key, "."); v.Ignored && section == serversKey {
			return section
		}
	}
	return ""
}

// AskToTrust asks whether to trust the project if err says that a tool may be missing because the
// project is not trusted. It reports whether looking the tool up again may succeed.
func (env *Env) AskToTrust(err error, f InteractionFlags) bool {
	missing, ok := errors.AsType[*library.NotFoundError](err)
	if !ok || missing.Note == "" || !env.CanAsk(f) {
		return false
	}
	c, err := env.currentSettings()
	if err != nil || ignoredSource(c) == "" || c.Trust.State == config.Declined {
		return false
	}
	c, err = RunSettings(env, f)
	return err == nil && ignoredSource(c) == ""
}
