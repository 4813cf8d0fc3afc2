package ui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/discovery"
	"github.com/flowrun/flowrun/tool"
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

// discover runs the discovery command. A signal stops the command with all its child processes, and
// then this program.
func (env *Env) discover(t *discoveryResult, c *config.Config) {
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
	start := time.Now()
	t.Tools, t.Warnings, t.Err = discovery.Discover(ctx, discovery.Config{
		DiscoveryCommand: c.Word("tools.discoveryCommand"), CallCommand: c.Word("tools.callCommand"),
		Dir: env.projectDir(c), StderrFails: c.Word("tools.callStderr") == "fail",
	})
	t.Elapsed = time.Since(start)
	stop(nil)
	<-done
	signal.Stop(signals)
	if sig != nil && !env.handlesSignals.Load() { // no other handler will end the program
		env.EndScripts()
		os.Exit(signalCode(sig))
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
func (env *Env) projectDir(c *config.Config) string {
	if c.Trust.Folder != "" {
		return c.Trust.Folder
	}
	dir, _ := os.Getwd()
	return dir
}

// undiscoveredNote returns why a name may be unknown although the discovery command might report it,
// or "".
func (env *Env) undiscoveredNote() string {
	c, err := env.currentSettings()
	if err != nil {
		return "tools.discoveryCommand may provide it, but does not run while the settings are invalid; for details: flowrun config list"
	}
	if ignoresDiscovery(c) {
		return fmt.Sprintf("tools.discoveryCommand of %s may provide it, but does not run because the project is not trusted; to trust it: flowrun trust",
			console.Quote(c.Trust.Folder))
	}
	env.discovery.mu.Lock()
	defer env.discovery.mu.Unlock()
	if env.discovery.Err != nil {
		return "tools.discoveryCommand may provide it, but failed; for details: flowrun doctor"
	}
	return ""
}

// ignoresDiscovery reports whether the discovery command of the project does not run because the
// project is not trusted.
func ignoresDiscovery(c *config.Config) bool {
	return slices.ContainsFunc(c.Values, func(v config.Value) bool { return v.Ignored && v.Key == "tools.discoveryCommand" })
}

// AskToTrust asks whether to trust the project if err says that a tool may be missing because the
// project is not trusted. It reports whether looking the tool up again may succeed.
func (env *Env) AskToTrust(err error, f InteractionFlags) bool {
	missing, ok := errors.AsType[*tool.NotFoundError](err)
	if !ok || missing.Note == "" || !env.CanAsk(f) {
		return false
	}
	c, err := env.currentSettings()
	if err != nil || !ignoresDiscovery(c) || c.Trust.State == config.Declined {
		return false
	}
	c, err = RunSettings(env, f)
	return err == nil && !ignoresDiscovery(c)
}
