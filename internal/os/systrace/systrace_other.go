//go:build !linux || !(amd64 || arm64)

package systrace

import (
	"errors"
	"runtime"
)

// Available returns nil if this platform can observe processes, and otherwise why not.
func Available() error {
	return errors.New("this is supported only on Linux (amd64 and arm64), not on " + runtime.GOOS + "/" + runtime.GOARCH)
}

// Sender connects this process with a Tracer.
type Sender struct{}

// Dial fails.
func Dial(string) (*Sender, error) { return nil, Available() }

// Start fails.
func (*Sender) Start() error { return Available() }

// Tracer receives what processes report.
type Tracer struct{}

// Listen fails.
func Listen(string, func(Access)) (*Tracer, error) { return nil, Available() }

// Close does nothing.
func (*Tracer) Close() error { return nil }
