//go:build !linux

package netns

import (
	"errors"
	"runtime"
)

// Available returns why Open does not work.
func Available(string) error {
	return errors.New("network namespaces exist only on Linux, not on " + runtime.GOOS)
}

// Open fails.
func Open(binary string, addresses []Address) (*Namespace, error) { return nil, Available(binary) }
