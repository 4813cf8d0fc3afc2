package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/config"
)

// settings are the settings that a command has loaded.
type settings struct {
	trustOnce bool           // --trust-project
	loaded    *config.Config // of a command that runs something
	once      sync.Once
	limits    *config.Config // see Env.limits
}

// TrustOnce trusts the project for this command only, for --trust-project.
func (env *Env) TrustOnce(yes bool) { env.settings.trustOnce = yes }

// LoadSettings loads and validates the settings. trusted is --trust-project.
func LoadSettings(trusted bool) (*config.Config, error) {
	c, err := config.Load(config.Options{StateDir: engine.DefaultStateDir(), TrustProject: trusted})
	var found tool.Diagnostics
	if err != nil {
		found, _ = err.(tool.Diagnostics)
	}
	found = append(found, invalidCommands(c)...)
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

// PrintProjectSettings prints the settings of a project that require trust. Control characters are
// made visible, because the values may be hostile.
func PrintProjectSettings(env *Env, t config.Trust) {
	env.Notef("the project %s sets:", console.Quote(t.Folder))
	for _, v := range t.Needed {
		fmt.Fprintf(env.Stderr, "  %s = %s   (%s)\n", console.Visible(v.Key), console.Quote(v.Shown()), console.Visible(filepath.Base(v.Origin.String())))
	}
}

// RunSettings loads the settings for a command that runs something. If the project is not trusted and
// there is a person, the person is asked; the answer is stored and applies until the settings
// change.
func RunSettings(env *Env, f InteractionFlags) (*config.Config, error) {
	c, err := env.limits(), error(nil) // loaded to find the tool
	if c == nil || f.TrustProject {
		c, err = LoadSettings(f.TrustProject)
	}
	env.settings.loaded = c
	if err != nil || len(c.Trust.Ignored()) == 0 {
		return c, err
	}
	if s := c.Trust.State; (s == config.Undecided || s == config.Changed) && env.CanAsk(f) {
		if s == config.Changed {
			env.Notef("the settings of the project have changed since your last decision")
		}
		PrintProjectSettings(env, c.Trust)
		env.Notef("if you trust the project, patterns that allow tools also match its tools")
		yes, err := env.Confirm(YesNoQuestion{Text: "Trust this project? [y/N] ", DiscardTyped: true})
		if sig, ok := errors.AsType[SignalError](err); ok {
			return nil, sig.Code()
		}
		if err != nil {
			return nil, err
		}
		if err := c.Decide(engine.DefaultStateDir(), yes); err != nil {
			env.Notef("%v", err)
		}
	}
	if keys := c.Trust.Ignored(); len(keys) > 0 && Verbose(f.Progress) {
		env.Notef("ignoring %s of %s: the project is not trusted; to trust it: flowrun trust; to trust it only once: --trust-project",
			console.Visible(strings.Join(keys, ", ")), console.Quote(c.Trust.Folder))
	}
	return c, nil
}
