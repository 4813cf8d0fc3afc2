package ui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/os/home"
)

const setStateDir = "set FLOWRUN_STATE_DIR to a folder you can write to"

// StateDir returns the state directory. It is an error if there is none.
func StateDir() (string, error) {
	if dir := engine.DefaultStateDir(); dir != "" {
		return dir, CheckStateOwner()
	}
	return "", errors.New("there is no history, because this user has no home directory; " + setStateDir)
}

// MakeStateDir is StateDir for commands that write: it creates the folder if it does not exist.
func MakeStateDir() (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", UnusableState(dir, err)
	}
	return dir, nil
}

// StateDirNamed reports whether a variable names the state directory, so that it is not in the home
// directory.
func StateDirNamed() bool {
	return os.Getenv("FLOWRUN_STATE_DIR") != "" || filepath.IsAbs(os.Getenv("XDG_STATE_HOME"))
}

// UnusableState says that a state directory cannot be created or written, why, and the way out.
func UnusableState(dir string, reason error) error {
	if StateDirNamed() {
		return fmt.Errorf("cannot use the state directory %q: %w; %s", dir, reason, setStateDir)
	}
	if at, err := home.Dir(); err == nil {
		if info, err := os.Stat(at); err == nil && !info.IsDir() {
			return fmt.Errorf("there is no history, because HOME %q is not a folder; set HOME to a folder, or FLOWRUN_STATE_DIR to one you can write to", at)
		}
	}
	return fmt.Errorf("there is no history, because %q cannot be used: %w; %s", dir, reason, setStateDir)
}

// impossibleState returns an error if there can be no state directory, because its path leads through
// a file. For commands that read, a state directory that does not exist yet is an empty history.
func impossibleState() error {
	dir := engine.DefaultStateDir()
	if _, err := os.Stat(dir); dir != "" && errors.Is(err, syscall.ENOTDIR) {
		return UnusableState(dir, err)
	}
	return nil
}
