package npm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// vendorHint is the alternative to npm in hints.
const vendorHint = "or put the packages into node_modules next to the tool, where flowrun finds them without npm"

// registryRange matches a version range, or a tag, of a package in the registry. Everything else
// that npm accepts (folders, repositories, URLs) is code that no version identifies.
var registryRange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z.*^~<>=|+ -]+$`) })

// installed returns the dependencies of a tool after those that were missing have been fetched, with
// a lock file next to the tool.
func installed(ctx context.Context, env *ui.Env, def *tool.Definition) (dependencies, error) {
	d := dependenciesOf(def)
	adopted := d.adoptLock(env)
	if adopted {
		d = dependenciesOf(def)
	}
	if err := fetchMissing(ctx, env, &d); err != nil {
		if adopted {
			err = errors.Join(err, os.Remove(bundle.LockFile(d.file)))
		}
		return d, err
	}
	d = dependenciesOf(def)
	return d, d.recordUser()
}

// fetchMissing lets npm fetch the packages of a tool if at least one is missing.
func fetchMissing(ctx context.Context, env *ui.Env, d *dependencies) error {
	missing := d.missing()
	if len(missing) == 0 {
		return nil
	}
	for _, one := range d.list {
		if !registryRange().MatchString(one.Range) {
			return fmt.Errorf("%s@%s is not a version of the npm registry; write a range such as ^4.17.21, %s", console.Clean(one.Name), console.Clean(one.Range), vendorHint)
		}
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("cannot fetch packages for %s (%s): npm is not on PATH; install Node.js, %s", console.Clean(d.Tool), strings.Join(missing, ", "), vendorHint)
	}
	env.Notef("fetching %s with npm", console.Clean(strings.Join(missing, ", ")))
	return fetchPackages(ctx, env, npm, d)
}

// fetchPackages fills the folder of packages. npm works in a temporary folder beside it, which is
// renamed when it is complete. So an interrupted or concurrent download never leaves an incomplete
// folder.
func fetchPackages(ctx context.Context, env *ui.Env, program string, d *dependencies) (err error) {
	root := filepath.Dir(d.Folder)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return err
	}
	work, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	lock, err := d.prepare(work)
	if err != nil {
		return err
	}
	command := "install"
	if lock.fits(d.list) {
		command = "ci" // exactly the versions of the lock file
	}
	if err := npm(ctx, env, program, command, work); err != nil {
		return err
	}
	text := d.lock
	if command == "install" {
		text = d.writeLock(env, work)
	}
	if text != nil { // as it is next to the tool, for adoptLock
		if err := os.WriteFile(filepath.Join(work, npmLockName), text, 0o600); err != nil {
			return err
		}
	}
	if err := recordUser(work, d.file); err != nil {
		return err
	}
	return moveFolder(work, string(d.folderFor(text)))
}

// prepare writes what npm needs into a folder. It returns the lock file of the tool, which may be
// empty.
func (d dependencies) prepare(work string) (npmLock, error) {
	byName := map[string]string{}
	for _, one := range d.list {
		byName[one.Name] = one.Range
	}
	manifest, err := json.MarshalIndent(map[string]any{"name": "flowrun-tool", "private": true, "dependencies": byName}, "", "  ")
	if err != nil {
		return npmLock{}, err
	}
	if err := os.WriteFile(filepath.Join(work, "package.json"), manifest, 0o600); err != nil || d.lock == nil {
		return npmLock{}, err
	}
	lock, err := readNPMLock(d.lock)
	if err != nil {
		return npmLock{}, fmt.Errorf("%s%w, and run flowrun tool deps again", console.Clean(d.Lock), err)
	}
	text, err := json.Marshal(lock)
	if err != nil {
		return npmLock{}, err
	}
	return lock, os.WriteFile(filepath.Join(work, npmLockName), text, 0o600)
}

// moveFolder gives a complete folder its final name.
func moveFolder(work, folder string) error {
	if err := os.Rename(work, folder); err != nil {
		if _, there := os.Stat(filepath.Join(folder, "node_modules")); there == nil { // another process was faster
			return nil
		}
		if err := os.RemoveAll(folder); err != nil { // remains of a crash
			return err
		}
		return os.Rename(work, folder)
	}
	return nil
}

// npm fetches the packages in the package.json of a folder, without running their scripts. The
// command is install or ci.
func npm(ctx context.Context, env *ui.Env, program, command, dir string) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, program, command, "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", "--loglevel=error")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NO_UPDATE_NOTIFIER=1")
	cmd.Stdout, cmd.Stderr = env.Stderr, env.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	switch err := proc.Run(cmd, procid.DomainOf(engine.DefaultStateDir())); {
	case ctx.Err() != nil:
		env.Notef("stopped; nothing was fetched")
		return ui.CodeError(outcome.ExitInterrupted)
	case err != nil:
		return fmt.Errorf("npm could not fetch the packages (%w); fix the error that it printed above, %s", err, vendorHint)
	}
	return nil
}
