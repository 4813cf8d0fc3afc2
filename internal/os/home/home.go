// Package home finds the home directory of the user, even if no variable names it: in a system
// unit, in a container, or under env -i.
package home

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
)

// Settings returns the folder of the settings of a user with that home directory, "" if that is "".
func Settings(getenv func(string) string, dir string) string {
	if xdg := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		return filepath.Join(xdg, "flowrun")
	}
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, ".config", "flowrun")
}

// Dir returns the home directory from the environment, or else from the user database.
func Dir() (string, error) {
	if dir, err := os.UserHomeDir(); err == nil {
		return dir, nil
	}
	u, err := user.Current()
	if err != nil || !filepath.IsAbs(u.HomeDir) {
		return "", errors.New("there is no home directory: HOME is not set, and the user database has none")
	}
	return u.HomeDir, nil
}
