package ui

import (
	"context"
	"sync/atomic"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Env is one invocation of the program: its streams, and what its commands share.
type Env struct {
	Terminal

	settings  settings
	scripts   scripts
	discovery discoveryResult
	servers   servers
	// ServerQuestions asks the person at the terminal the questions of MCP servers.
	ServerQuestions ServerQuestions

	// Engine says whose runs the command is about, see package engines; "" is this machine's.
	Engine string

	// Remote calls a function with the runs of the other engine.
	Remote func(context.Context, func(history.Store) error) error

	// Artifact, if it is set, puts an artifact of these runs into a folder of this machine, and returns it with its path there.
	Artifact func(dag.Artifact) (dag.Artifact, error)

	// Hint, if it is set, turns a hint that names commands of flowrun into one that names those of the
	// program, or into "" if it has none like them.
	Hint func(string) string

	handlesSignals atomic.Bool // set if the command handles signals; see Signals
}
