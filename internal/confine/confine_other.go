//go:build !linux

package confine

import (
	"errors"
	"runtime"
)

const selfFile = ""

// Available returns nil if this platform can confine processes, and otherwise why not.
func Available() error {
	return errors.New("this is supported only on Linux, not on " + runtime.GOOS)
}

func become(Confinement, string, []string) error { return Available() }

func hasRunUsers() bool { return false }
