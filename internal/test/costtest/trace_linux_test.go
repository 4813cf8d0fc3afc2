package costtest

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// waking are the system calls of the Go runtime and of strace itself whose number depends on
// how busy the machine is.
var waking = strings.Fields(`futex nanosleep clock_nanosleep epoll_pwait epoll_wait sched_yield sched_getaffinity
	getpid gettid tgkill rt_sigreturn rt_sigprocmask sigaltstack restart_syscall clock_gettime madvise mmap munmap`)

// systemCalls counts the system calls of flowrun and, until they start their program, of its
// children.
func (p program) systemCalls(t *testing.T) {
	strace := needtest.Program(t, "strace")
	got := counts{}
	for _, w := range workloads {
		for range w.rounds() {
			p.prepare(t, w)
			calls := p.trace(t, strace, w)
			w.add(got, "system calls", calls["all"])
			w.add(got, "processes", calls["process"])
			w.add(got, "files opened", calls["open"]+calls["openat"])
			if w.steps == 0 { // of many steps, syncs depend on the time and threads on the load
				w.add(got, "threads", calls["thread"])
				w.add(got, "syncs", calls["fsync"]+calls["fdatasync"])
			}
		}
	}
	check(t, "calls", got)
}

// traced matches the line of a system call that begins, with its arguments. strange matches those that look at the processes
// of the machine, which may have any number: for each one, whether a flowrun that was killed has left it, and for each flowrun
// that has left something, whether it still runs.
var (
	traced  = regexp.MustCompile(`(?m)^\d+ +(\w+)\((.*)`)
	strange = regexp.MustCompile(`/proc/\d+/stat\b|^kill\(\d+, 0\b|^prlimit64\([1-9]\d*, RLIMIT_RTTIME`)
)

// trace runs the workload and returns the number of its system calls by name, of all of them
// ("all"), and of the processes and threads that it started.
func (p program) trace(t *testing.T, strace string, w workload) map[string]float64 {
	t.Helper()
	file := filepath.Join(p.dir, "trace")
	argv := append([]string{strace, "-f", "-qq", "-y", "-b", "execve", "-e", "signal=none", "-e", "trace=!" + strings.Join(waking, ","), "-o", file, p.path}, w.args...)
	if out, err := p.command(argv...).CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("ptrace")) {
			needtest.Missing(t, "strace may not trace: %s", out)
		}
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	lines, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]float64{}
	for _, m := range traced.FindAllSubmatch(lines, -1) {
		name, args := string(m[1]), string(m[2])
		if strange.MatchString(name + "(" + args) {
			continue
		}
		calls["all"]++
		calls[name]++
		switch {
		case strings.Contains(args, "CLONE_THREAD"):
			calls["thread"]++
		case strings.HasPrefix(name, "clone") || name == "fork" || name == "vfork":
			calls["process"]++
		}
	}
	if calls["all"] == 0 {
		t.Fatalf("strace reports no system calls:\n%.500s", lines)
	}
	return calls
}
