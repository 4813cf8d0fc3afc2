// Package home finds the home folder of the user, also where no variable names it: in a
// system unit, a container, or under env -i.
package home

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
)

// Dir is the home folder that the environment names, else the one in the user database.
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
