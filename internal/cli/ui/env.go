package ui

import (
	"io"
	"sync/atomic"
)

// Env is one run of the program: its streams, and what its commands share.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Completing bool // a shell asks what could be typed next

	color    string // --color; "" is auto
	inJSON   bool   // --progress json: errors are JSON, too
	settings settings
	scripts  scripts
	found    discoveries

	handlesSignals atomic.Bool // the command does, see Signals
}
