package service_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestShortageIsLogged: a run whose step cannot start because the process may open no more files says so in the log while it
// waits. The limit is that of a process of its own.
func TestShortageIsLogged(t *testing.T) {
	if os.Getenv("SERVICE_TEST_SHORTAGE") == "" {
		c := exec.Command(os.Args[0], "-test.run", "TestShortageIsLogged$")
		c.Env = append(os.Environ(), "SERVICE_TEST_SHORTAGE=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	b := newBench(t, map[string]string{"two": "name: two\nsteps:\n  - {name: first, bash: \"mkdir begun; until [ -e go ]; do sleep 0.01; done\"}\n  - {name: second, bash: \"true\"}\n"})
	s := b.serve()
	id := b.start(s, service.Request{Tool: "two"})
	waittest.Until(t, "the first step", func() bool { _, err := os.Stat(filepath.Join(b.dir, "begun")); return err == nil }, func() any { return b.log.String() })
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	setFiles(t, syscall.Rlimit{Cur: 3, Max: old.Max})
	if err := os.Mkdir(filepath.Join(b.dir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "a line in the log", func() bool { return strings.Contains(b.log.String(), "notice=shortage") }, func() any { return b.log.String() })
	setFiles(t, old)
	b.becomes(id, dag.Succeeded)
}

func setFiles(t *testing.T, limit syscall.Rlimit) {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
}
