package proc

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/procid"
)

// Host starts the processes of one run. A [Group] does it in this process,
// package internal/supervisor in another one. Hosts are safe for concurrent use.
type Host interface {
	// Start starts a process. The error is the system's (syscall.Errno inside)
	// when the program or the directory cannot be used.
	Start(Spec) (Process, error)
	// Close ends everything that still belongs to the run, but what detached
	// steps left, and gives the Host's means back. Nothing may be started after
	// it. When ctx is done the rest of the grace period is skipped.
	Close(ctx context.Context, grace time.Duration) (Report, error)
}

// Process is the first process of a step.
type Process interface {
	// PID is its number.
	PID() int
	// Wait returns when the process has ended, or when ctx is done: then the
	// error is context.Cause(ctx), the process still runs and Stop must follow.
	Wait(ctx context.Context) (Exit, error)
	// Stop ends the step: TERM to all that belongs to it, up to grace for them to
	// go, then KILL until nothing is left, at most two seconds more. Zero grace
	// starts with KILL, and so does force once it is closed. What would not die is
	// returned.
	Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info)
}

// Spec says what to start.
type Spec struct {
	Step   string      // the step's path
	Path   string      // the program's file
	Args   []string    // argv, the program's name first
	Env    []string    // K=V; should hold MarkOwner and MarkStep
	Dir    string      // "" is this process's directory
	Files  [3]*os.File // stdin, stdout, stderr
	Detach bool        // what the process leaves behind stays when the run ends
	Bound  bool        // with Detach: what it leaves is ended all the same once this process is gone (Sweep)
	TTY    bool        // stdin is a terminal: the process's session has it as its own (Unix only)
}

// Exit is how a process ended.
type Exit struct {
	Code   int            // exit code, or 128 + signal as shells have it
	Signal syscall.Signal // that ended it; 0 when it exited
}

// Names lists processes for a message, the first twenty by name.
func Names(list []procid.Info) string {
	const limit = 20
	words := make([]string, min(len(list), limit))
	for i := range words {
		words[i] = list[i].String()
	}
	if more := len(list) - limit; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(words, ", "), more)
	}
	return strings.Join(words, ", ")
}

// Report says what was left when a run ended.
type Report struct {
	Ended   []procid.Info // background processes, ended now
	Escaped []procid.Info // would not die, or may be the run's but nothing proves it
}

// MaxKillTime is how long after the grace period ending something may take, where the
// machine is not too busy for a few looks at its processes.
const MaxKillTime = 2 * time.Second
