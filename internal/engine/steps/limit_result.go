package steps

import (
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// Reasons of steps that reached a limit.
const (
	reasonMemory    = "memory-limit"    // it used more memory than max-memory allows
	reasonProcesses = "process-limit"   // it failed, and could not start more processes than max-processes allows
	reasonCPU       = "cpu-limit"       // it used more CPU time than max-cpu allows
	reasonFileSize  = "file-size-limit" // it was ended because it wrote to a file beyond max-file-size
	reasonOutput    = "output-limit"    // it printed more than max-output allows
)

// Exit codes that shells report for programs that the kernel ended at a limit, by SIGKILL, SIGXCPU
// and SIGXFSZ of Linux.
const (
	codeMemory   = 128 + 9
	codeCPU      = 128 + 24
	codeFileSize = 128 + 25
)

// usage returns what the processes of the attempt used: what its cgroup counted, and otherwise what
// the kernel counted for the first of them and those that it waited for.
func (l *limits) usage(exit proc.Exit) dag.Usage {
	u := dag.Usage(exit.Usage)
	if l.group == nil {
		return u
	}
	if peak := l.group.PeakMemory(); peak > 0 {
		u.MaxRSS = peak
	}
	if user, system, ok := l.group.CPUTime(); ok && user+system > u.CPU() {
		u.User, u.System = user, system
	}
	return u
}

// explain changes the Result of an attempt that reached a limit. A shell may have continued
// after its program was ended; the step has failed nevertheless.
func (l *limits) explain(r *dag.Result, stopped bool) {
	fail := func(reason string, code int, message string) {
		r.Status, r.Reason, r.Message = dag.Failed, reason, message
		if r.ExitCode == 0 || stopped {
			r.ExitCode = code
		}
	}
	switch {
	case l.printed.IsOver():
		fail(reasonOutput, 1, fmt.Sprintf("output limit of %s exceeded; raise resources.max-output, or make the step print less", confinement.SizeText(l.MaxOutput)))
	case l.MaxCPU > 0 && (r.Usage.CPU() >= l.MaxCPU || r.ExitCode == codeCPU):
		fail(reasonCPU, codeCPU, fmt.Sprintf("CPU time limit of %v exceeded; raise resources.max-cpu, or make the step compute less", l.MaxCPU))
	case stopped:
	case l.MaxMemory > 0 && l.group != nil && l.group.OutOfMemory():
		fail(reasonMemory, codeMemory, fmt.Sprintf("memory limit of %s exceeded; raise resources.max-memory, or make the step use less memory", confinement.SizeText(l.MaxMemory)))
	case l.MaxFileSize > 0 && r.ExitCode == codeFileSize:
		fail(reasonFileSize, codeFileSize, fmt.Sprintf("a file exceeds the limit of %s; raise resources.max-file-size, or write smaller files", confinement.SizeText(l.MaxFileSize)))
	case r.Status != dag.Failed:
	case l.MaxProcesses > 0 && l.group != nil && l.group.ProcessesDenied():
		fail(reasonProcesses, 1, fmt.Sprintf("process limit of %d reached; raise resources.max-processes, or start fewer processes at a time", l.MaxProcesses))
	case l.perProcess && r.Reason == dag.ReasonExit:
		if r.Message != "" {
			r.Message += "; "
		}
		r.Message += fmt.Sprintf("resources.max-memory limited each of its processes to %s of address space, which may be too little", confinement.SizeText(l.MaxMemory))
	}
}
