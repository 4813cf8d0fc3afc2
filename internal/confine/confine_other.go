//go:build !linux

package proc

import (
	"errors"
	"runtime"
)

const selfFile = ""

// CanConfine says why this platform cannot confine processes, nil where it can.
func CanConfine() error {
	return errors.New("flowrun can do this on Linux only; this is " + runtime.GOOS)
}

func become(Confinement, string, []string) error { return CanConfine() }

func hasUsers() bool { return false }
