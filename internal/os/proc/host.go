package proc

import (
	"context"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Host starts the processes of one run. A [Group] starts them from this process, a
// supervisor.Client from another one. Safe for concurrent use.
type Host interface {
	// Start starts a process. If the program or the directory cannot be used, the error wraps the
	// syscall.Errno of the system.
	Start(Spec) (Process, error)
	// Close ends every process that still belongs to the run, except what detached steps left, and
	// releases the resources of the Host. Start must not be called after it. When ctx is done, the
	// rest of the grace period is skipped.
	Close(ctx context.Context, grace time.Duration) (Report, error)
	// Domain returns the domain of the processes.
	Domain() procid.Domain
}

// Process is the first process of a step.
type Process interface {
	// PID returns the process id.
	PID() int
	// Wait returns when the process has ended or ctx is done. If ctx ended first, the error is
	// context.Cause(ctx), the process is still running and Stop must follow.
	Wait(ctx context.Context) (Exit, error)
	// Stop ends the step: it sends TERM to all its processes, waits up to grace for them to end,
	// then sends KILL until none is left, for at most two more seconds. With grace 0, or once force
	// is closed, it sends KILL at once. It returns the processes that survived.
	Stop(grace time.Duration, force <-chan struct{}) (Exit, []procid.Info)
}

// Spec describes a process to start.
type Spec struct {
	Step   string      // the step's path
	Path   string      // the program's file
	Args   []string    // argv, the program's name first
	Env    []string    // K=V; should contain MarkOwner and MarkStep
	Dir    string      // "" is this process's directory
	Files  [3]*os.File // stdin, stdout, stderr
	Detach bool        // what the process leaves in the background may outlive the run
	Bound  bool        // with Detach: what it leaves is ended by Sweep after this process has ended
	TTY    bool        // stdin is a terminal, which becomes the controlling terminal of the process (Unix only)
	NoCore bool        // the process leaves no core dump, which would hold secrets (Linux only)
	Enter  []*os.File  // namespaces that the process enters before it executes the program: that of the network after its user namespace, if it has its own (Linux only)
	// Confine is what the process gives up before it executes the program; nil: nothing (Linux only).
	Confine *confine.Confinement

	domain procid.Domain // that of the Host, set by Start
}

// Exit describes how a process ended.
type Exit struct {
	Code   int            // exit code, or 128 + signal as in shells
	Signal syscall.Signal // the signal that ended it; 0 if it exited
	Usage  Usage
}

// Usage is what a process used, together with those of its descendants whose ends were waited for.
type Usage struct {
	User, System time.Duration // CPU time
	// MaxRSS is the memory of the process that used most, in bytes; 0 if it is not known. On Linux
	// it is not known unless it is more than this process has ever used.
	MaxRSS int64
}

// Names lists processes for a message. After the first twenty it prints only how many more there
// are.
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

// Report lists the processes that were left when a run ended.
type Report struct {
	Ended   []procid.Info // background processes, which were ended
	Escaped []procid.Info // processes that survived KILL, or that may belong to the run but carry no proof of it
}

// MaxKillTime is how long it may take to end processes after the grace period. On a machine that is
// too busy to read its process table a few times it can take longer.
const MaxKillTime = 2 * time.Second
