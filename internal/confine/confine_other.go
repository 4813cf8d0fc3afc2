//go:build !linux

package confine

import (
	"errors"
	"runtime"
)

const selfFile = ""

// Available returns nil if this platform can confine processes, and otherwise why not.
func Available() error {
	return errors.New("flowrun can do this on Linux only; this is " + runtime.GOOS)
}

func become(Confinement, string, []string) error { return Available() }

func hasRunUsers() bool { return false }
