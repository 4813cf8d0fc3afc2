//go:build !linux

package confine

import (
	"errors"
	"runtime"
)

const selfFile = ""

// Available says why this platform cannot confine processes, nil where it can.
func Available() error {
	return errors.New("flowrun can do this on Linux only; this is " + runtime.GOOS)
}

func become(Confinement, string, []string) error { return Available() }

func hasRunUsers() bool { return false }
