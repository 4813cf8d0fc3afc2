package servertest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// said is what a process prints, which another goroutine reads.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(b)
}

func (s *said) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.b.String(), text)
}

// TestOtherStore: if the workers have another store than the program that started a run, all programs say so, and the run
// can be left.
func TestOtherStore(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	dir := t.TempDir()
	command := func(args ...string) (*exec.Cmd, *said) {
		cmd := exec.Command(program(t, "..", "cmd/flowrun-temporal"), append(args, "--address", s.address, "--task-queue", "stores")...)
		cmd.Env, cmd.Dir = append(os.Environ(), "FLOWRUN_STATE_DIR="+t.TempDir()), dir
		text := &said{}
		cmd.Stdout, cmd.Stderr = text, text
		return cmd, text
	}
	start := func(args ...string) (*exec.Cmd, *said) {
		t.Helper()
		cmd, text := command(args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill() })
		return cmd, text
	}
	definition := fmt.Sprintf("name: big\ndescription: d\nsteps:\n  - {name: a, run: 'echo %s'}\n", strings.Repeat("x", 50000))
	if err := os.WriteFile(filepath.Join(dir, "big.yaml"), []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	const reason = "who started the run and all workers need the same --store"
	run, text := start("run", "./big.yaml", "--progress", "plain", "--store", s.storeDir()) // before there is a worker to compare with
	waittest.Until(t, "an open run", func() bool {
		list, err := s.client.ListWorkflow(t.Context(), &workflowservice.ListWorkflowExecutionsRequest{})
		return err == nil && len(list.GetExecutions()) == 1
	})
	_, worker := start("worker", "--store", t.TempDir())
	waittest.Until(t, "the reason in run", func() bool { return text.has("the workers cannot continue the run: ") && text.has(reason) })
	waittest.Until(t, "the reason in the log of the worker", func() bool { return worker.has(reason) })
	show, shown := command("show", "latest", "--store", s.storeDir())
	if err := show.Run(); err == nil || !shown.has(reason) {
		t.Errorf("show, %v: %s", err, shown.b.String())
	}
	for _, args := range [][]string{{"run", "./big.yaml"}, {"worker"}} {
		second, refused := command(append(args, "--store", s.storeDir())...)
		if second.Run(); second.ProcessState.ExitCode() != 5 || !refused.has("has another store than this program") {
			t.Errorf("%v, %v: %s", args, second.ProcessState, refused.b.String())
		}
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if run.Wait(); run.ProcessState.ExitCode() != 143 {
		t.Errorf("after TERM, %v: %s", run.ProcessState, text.b.String())
	}
}
