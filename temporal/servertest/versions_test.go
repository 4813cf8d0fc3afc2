package servertest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestTwoVersions: workers of two versions of the workflow serve the same task queue. Each continues the runs of its
// version, and commands of the new version see the runs of both.
func TestTwoVersions(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	oldProgram, newProgram := program(t, "..", "cmd/flowrun-temporal"), nextVersion(t)
	old := startWorker(t, s, s.address, "versions")
	startProgram(t, newProgram, s, s.address, "versions")
	dir := t.TempDir()
	file := filepath.Join(dir, "t.yaml")
	definition := "description: d\nsteps:\n  - {name: gate, approve: {prompt: 'Continue?'}}\n  - {name: after, run: echo continued}\n"
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(program string, args ...string) string {
		cmd := exec.CommandContext(t.Context(), program, append(args, "--address", s.address, "--task-queue", "versions", "--store", s.storeDir())...)
		cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir)
		text, err := cmd.Output()
		if err != nil && cmd.ProcessState.ExitCode() != 7 { // it waits
			var problem []byte
			if exit, ok := err.(*exec.ExitError); ok {
				problem = exit.Stderr
			}
			t.Fatalf("%s %v: %v\n%s", program, args, err, problem)
		}
		return strings.TrimSpace(string(text))
	}
	status := func(program, run string) string {
		var d struct{ Status string }
		if err := json.Unmarshal([]byte(command(program, "show", run, "-o", "json")), &d); err != nil {
			t.Fatal(err)
		}
		return d.Status
	}
	first, second := command(oldProgram, "run", file, "--detach"), command(newProgram, "run", file, "--detach")
	for _, run := range []string{first, second} {
		waittest.Until(t, "the question of "+run, func() bool { return status(newProgram, run) == "waiting" })
	}
	if list := command(newProgram, "runs", "--status", "waiting"); !strings.Contains(list, first) || !strings.Contains(list, second) {
		t.Errorf("the list has not both waiting runs:\n%s", list)
	}
	old.drain() // the machine with the old version is upgraded too early
	command(newProgram, "approve", second)
	waittest.Until(t, "the end of the new run", func() bool { return status(newProgram, second) == "succeeded" })
	startWorker(t, s, s.address, "versions")
	command(newProgram, "approve", first)
	waittest.Until(t, "the end of the old run", func() bool { return status(newProgram, first) == "succeeded" })
	for run, version := range map[string]string{first: "versions-1", second: "versions-next"} {
		info, err := s.client.DescribeWorkflowExecution(t.Context(), run, "")
		if err != nil {
			t.Fatal(err)
		}
		if queue := info.GetExecutionConfig().GetTaskQueue().GetName(); queue != version {
			t.Errorf("run %s was on task queue %s, want %s", run, queue, version)
		}
	}
}

// nextVersion builds the program with another version of the workflow, which decides otherwise: it could not continue
// a run of this version.
func nextVersion(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	replaced := map[string]string{}
	for name, change := range map[string][2]string{
		"input.go":  {`const version = "1"`, `const version = "next"`},
		"flight.go": {`name := string(o.Path.WithoutKeys())`, `name := "next " + string(o.Path.WithoutKeys())`},
	} {
		source, err := filepath.Abs(filepath.Join("../internal/interpreter", name))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(source)
		if err != nil || !strings.Contains(string(text), change[0]) {
			t.Fatalf("%s: no %q, %v", name, change[0], err)
		}
		replaced[source] = filepath.Join(dir, name)
		if err := os.WriteFile(replaced[source], []byte(strings.ReplaceAll(string(text), change[0], change[1])), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "overlay.json"), overlay, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-overlay", filepath.Join(dir, "overlay.json"), "-ldflags", "-s -w", "-o", filepath.Join(dir, "flowrun-temporal"), "./cmd/flowrun-temporal")
	cmd.Dir = ".."
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return filepath.Join(dir, "flowrun-temporal")
}
