package ui

import (
	"io"
	"sync/atomic"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/config"
	"github.com/flowrun/flowrun/tool"
)

// Env is one run of the program: its streams, and what its commands share.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	color      string // --color; "" is auto
	inJSON     bool   // --progress json: errors are told so too
	Completing bool   // a shell asks what could be typed next

	scripts *hooks.Runtime // nil until asked for
	limits  *config.Config // see bounds
	bounded bool           // whether bounds has been asked
	load    tool.Loader    // of .tool.js files; nil until asked for
	loading loading        // ends load
	inForce *config.Config // of the command that runs something; nil until it has read them

	TrustOnce   bool        // --trust-project of a command that runs something
	heeds       atomic.Bool // signals are heard by what a command does, see signals
	discoveries discoveries
}
