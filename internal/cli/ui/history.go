package ui

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// CheckStateOwner rejects a state directory that other users can write: they could add runs, trust
// decisions and a service.
func CheckStateOwner() error {
	dir := engine.DefaultStateDir()
	if dir == "" {
		return nil
	}
	if err := ownership.Check(dir); err != nil {
		return &RefusedError{Reason: fmt.Sprintf("cannot use the state directory %s: %v; make yourself its owner (chown) and remove the write access of others (chmod go-w), or set FLOWRUN_STATE_DIR to a folder of your own", dir, err)}
	}
	return nil
}

// stateless are the commands that do not need a state directory.
var stateless = []string{"completion", "doctor", "explain", "help", "version", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}

// CheckState runs CheckStateOwner before a command. The command call reports the error in its own
// form.
func CheckState(c *cobra.Command, _ []string) error {
	for at := c; at != nil; at = at.Parent() {
		if slices.Contains(stateless, at.Name()) || at.Name() == "call" {
			return nil
		}
	}
	return CheckStateOwner()
}

// History is the history of this user: the runs, and what is kept beside them.
type History interface {
	history.Store
	Schedules() sqlite.Schedules
	Firings() sqlite.Firings
	Audit() sqlite.Audit
	Digests() sqlite.Digests
	Retention() sqlite.Retention
	File() sqlite.File
}

// ReadHistory opens the history for reading and calls f. A history of an older version is upgraded
// first, which a user who may only read it cannot do.
func (env *Env) ReadHistory(f func(ctx context.Context, s History) error) error {
	return env.withHistory(func(ctx context.Context, dir string) (*sqlite.Store, error) {
		s, err := sqlite.OpenReadOnly(ctx, dir)
		if e, ok := errors.AsType[*sqlite.Error](err); !ok || e.Code != sqlite.Older {
			return s, err
		}
		if upgraded, failed := sqlite.Open(ctx, dir); failed == nil {
			return upgraded, nil
		}
		return nil, err
	}, f)
}

// WriteHistory opens the history for writing and calls f.
func (env *Env) WriteHistory(f func(ctx context.Context, s History) error) error {
	if _, err := MakeStateDir(); err != nil {
		return err
	}
	return env.withHistory(sqlite.Open, f)
}

func (env *Env) withHistory(open func(context.Context, string) (*sqlite.Store, error), f func(context.Context, History) error) error {
	dir, err := StateDir()
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := open(ctx, dir)
	if err != nil {
		return err
	}
	if s.Upgraded() {
		env.Notef("the history in %s was upgraded to the format of this version", dir)
	}
	return errors.Join(f(ctx, s), s.Quit()) // the faster Quit is enough, because the process ends after the command
}

// LoadRun loads the run that an argument names for an act.
func (env *Env) LoadRun(ctx context.Context, s history.Store, a findrun.Act, word string) (*engine.RecordedRun, error) {
	id, err := env.FindRun(ctx, s, a, word)
	if err != nil {
		return nil, err
	}
	return engine.LoadRun(ctx, s, env.Library(), id)
}

// FindRun returns the id of the run that an argument names for an act. The latest run is one of the project of the
// working directory, if it has one.
func (env *Env) FindRun(ctx context.Context, s history.Store, a findrun.Act, word string) (string, error) {
	f := env.Finder(s)
	id, err := f.Find(ctx, a, word)
	if !errors.Is(err, history.ErrNoRun) {
		return id, err
	}
	if impossible := impossibleState(); impossible != nil && env.Engine == "" {
		return "", impossible
	}
	if word != history.Latest {
		err = fmt.Errorf("%w%s", err, Nearest(word, []string{history.Latest}))
	}
	return id, err
}

// Finder returns what finds the runs that arguments name.
func (env *Env) Finder(s history.Store) *findrun.Finder {
	f := &findrun.Finder{Store: s, Library: env.Library}
	if c := env.limits(); c != nil {
		f.Folder = projectDir(c)
	}
	return f
}

// OneRun is the argument check of commands that take one run.
func OneRun(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return Usagef(c, "give one run: an id, a unique prefix of it, or %s", history.Latest)
	}
	return nil
}
