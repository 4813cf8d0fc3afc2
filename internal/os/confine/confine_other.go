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

// CheckSandbox returns nil if this machine can hold a Sandbox, and otherwise why not.
func CheckSandbox() error { return Available() }

// Landlock returns the version of Landlock in words, and why it cannot hold a Sandbox.
func Landlock() (version string, err error) { return "", Available() }

// CheckFilter returns nil if the kernel can filter the system calls of a Sandbox, and otherwise why not.
func CheckFilter() error { return Available() }

// BaseFiles returns nothing: there is no Sandbox here.
func BaseFiles() []FileRule { return nil }

func become(Confinement, string, []string) error { return Available() }

func hasRunUsers() bool { return false }
