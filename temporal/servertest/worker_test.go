package servertest

import (
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
)

// workerProcess is a running flowrun-temporal worker.
type workerProcess struct {
	t         testing.TB
	cmd       *exec.Cmd
	temporary string // the folder for its temporary files
}

// startWorker starts a worker for a task queue that reaches the server at this address.
func startWorker(t testing.TB, s *server, address, queue string, more ...string) *workerProcess {
	t.Helper()
	return startProgram(t, program(t, "..", "cmd/flowrun-temporal"), s, address, queue, more...)
}

// startProgram starts a worker of one program.
func startProgram(t testing.TB, program string, s *server, address, queue string, more ...string) *workerProcess {
	t.Helper()
	return startProgramBy(t, nil, program, s, address, queue, more...)
}

// startProgramBy starts a worker by another program, if by is not empty.
func startProgramBy(t testing.TB, by []string, program string, s *server, address, queue string, more ...string) *workerProcess {
	t.Helper()
	args := append(slices.Concat(by, []string{program, "worker", "--address", address, "--task-queue", queue, "--store", s.storeDir(), "--drain", "10s", "--max-parallel", "8"}), more...)
	cmd := exec.Command(args[0], args[1:]...)
	temporary := t.TempDir()
	cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+t.TempDir(), "FLOWRUN_GRACE=1m", "TMPDIR="+temporary)
	cmd.Dir = t.TempDir()
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &workerProcess{t, cmd, temporary}
	t.Cleanup(w.kill)
	return w
}

// kill ends the worker as kill -9 does.
func (w *workerProcess) kill() {
	w.cmd.Process.Kill()
	w.cmd.Wait() // the error is that it was killed, or that it has already ended
}

// drain stops the worker and waits until it has ended. Then it has removed its temporary files.
func (w *workerProcess) drain() {
	w.t.Helper()
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		w.t.Fatal(err)
	}
	if err := w.cmd.Wait(); err != nil {
		w.t.Logf("the worker ends with %v", err)
	}
	if left, err := os.ReadDir(w.temporary); err != nil || len(left) > 0 {
		w.t.Errorf("the worker has left temporary files: %v %v", left, err)
	}
}
