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

// discoveries are what a command has told of tools. It is asked once, when somebody
// needs a tool that is in no file, and not before its project is trusted.
type discoveries struct {
	mu       sync.Mutex
	asked    bool
	Tools    []*tool.Definition
	Warnings []string
	Err      error // why there are none
	Elapsed  time.Duration
}

// discovered are the tools that a command tells of. What is wrong with it is said once,
// and harms nothing else.
func (env *Env) discovered() []*tool.Definition {
	t := &env.found
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.asked {
		return t.Tools
	}
	c, err := env.currentSettings()
	if err != nil || c.Word("tools.discoveryCommand") == "" {
		return nil // what is wrong with settings is told by what needs more of them
	}
	t.asked = true
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

// Discover asks the command that settings name, unless it has been asked.
func (env *Env) Discover(c *config.Config) *discoveries {
	t := &env.found
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked {
		t.asked = true
		env.discover(t, c)
	}
	return t
}

// discover asks the command. An interrupt ends it, with all that it has started, before it
// ends this program.
func (env *Env) discover(t *discoveries, c *config.Config) {
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, TerminationSignals()...)
	var sig os.Signal
	done := make(chan struct{})
	go func() {
		defer close(done)
		select {
		case sig = <-heard:
			stop(fmt.Errorf("received %v", sig))
		case <-ctx.Done():
		}
	}()
	began := time.Now()
	t.Tools, t.Warnings, t.Err = discovery.Discover(ctx, discovery.Config{
		DiscoveryCommand: c.Word("tools.discoveryCommand"), CallCommand: c.Word("tools.callCommand"),
		Dir: env.projectDir(c), StderrFails: c.Word("tools.callStderr") == "fail",
	})
	t.Elapsed = time.Since(began)
	stop(nil)
	<-done
	signal.Stop(heard)
	if sig != nil && !env.handlesSignals.Load() { // nobody else has heard it
		env.EndScripts()
		os.Exit(signalCode(sig))
	}
}

// currentSettings are the settings in force: those that the command has read, or what it will read.
func (env *Env) currentSettings() (*config.Config, error) {
	if env.settings.inForce != nil {
		return env.settings.inForce, nil
	}
	return LoadSettings(env.settings.trustOnce)
}

// projectDir is the root of the project, the working directory where there is none.
func (env *Env) projectDir(c *config.Config) string {
	if c.Trust.Folder != "" {
		return c.Trust.Folder
	}
	dir, _ := os.Getwd()
	return dir
}

// whyUndiscovered says why a name may be found nowhere though a command would tell of it;
// "" where that is not so.
func (env *Env) whyUndiscovered() string {
	c, err := env.currentSettings()
	if err != nil {
		return "tools.discoveryCommand may know it, but does not run while the settings are invalid; for details: flowrun config list"
	}
	if ignoresDiscovery(c) {
		return fmt.Sprintf("tools.discoveryCommand of %s may know it, but does not run because the project is not trusted; to trust it: flowrun trust",
			console.Quote(c.Trust.Folder))
	}
	env.found.mu.Lock()
	defer env.found.mu.Unlock()
	if env.found.Err != nil {
		return "tools.discoveryCommand may know it, but failed; for details: flowrun doctor"
	}
	return ""
}

// ignoresDiscovery says whether the project has a command that is not run for want of trust.
func ignoresDiscovery(c *config.Config) bool {
	return slices.ContainsFunc(c.Values, func(v config.Value) bool { return v.Ignored && v.Key == "tools.discoveryCommand" })
}

// AskToTrust asks about the project where a tool was not found for want of trust, and says
// whether it is worth another look.
func (env *Env) AskToTrust(err error, f Asking) bool {
	missing, ok := errors.AsType[*tool.NotFoundError](err)
	if !ok || missing.Note == "" || !env.CanAsk(f) {
		return false
	}
	c, err := env.currentSettings()
	if err != nil || !ignoresDiscovery(c) || c.Trust.State == config.Declined {
		return false
	}
	c, err = Settings(env, f)
	return err == nil && !ignoresDiscovery(c)
}
