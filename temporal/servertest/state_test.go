package servertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/temporal/internal/values"
)

// kept returns the values that tools have kept on a server, by key.
func kept(t *testing.T, s *server, queue string) map[string]string {
	t.Helper()
	answer, err := s.client.QueryWorkflow(t.Context(), values.ID(queue), "", values.ValuesQuery)
	if err != nil {
		t.Fatal(err)
	}
	var list []history.StateValue
	if err := answer.Get(&list); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, v := range list {
		found[v.Key] = string(v.Value)
	}
	return found
}

// counter is a tool whose runs count themselves.
var counter = &testCase{name: "counter", text: "max-active-runs: 1\nstate:\n  N: {type: integer, default: 0}\n  ALL: {type: array, merge: append}\nsteps:\n" +
	"  - {name: a, on-interrupt: retry, bash: 'sleep 0.2; echo N=$(({state.N} + 1)) >> \"$FLOWRUN_STATE\"; echo \"ALL=[\\\"$FLOWRUN_RUN\\\"]\" >> \"$FLOWRUN_STATE\"'}\n" +
	"  - {name: b, on-interrupt: retry, run: 'echo {state.N}'}\n"}

// TestStateOnceUnderKills: each run that succeeds is counted once, whatever is killed meanwhile.
func TestStateOnceUnderKills(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	r, dir := newRemote(t, s, "state"), t.TempDir()
	workers := []*workerProcess{startWorker(t, s, s.address, "state"), startWorker(t, s, s.address, "state")}
	random := rand.New(rand.NewPCG(45, 3))
	kills := sizetest.Of(3, 5, 200)
	var list []*progress
	for range kills {
		for range 2 {
			p, err := r.start(t.Context(), counter, dir)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p)
		}
		time.Sleep(time.Duration(random.IntN(1500)) * time.Millisecond) // any moment
		lost := random.IntN(len(workers))
		workers[lost].kill()
		workers[lost] = startWorker(t, s, s.address, "state")
	}
	succeed(t, r, list)
	if n := kept(t, s, "state")["N"]; n != fmt.Sprint(len(list)) {
		t.Errorf("%s runs are counted, want %d", n, len(list))
	}
}

// TestConflict: of two runs that have read the same, one keeps its value, and the other fails. A value with a merge has
// those of both that succeeded.
func TestConflict(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "conflict")
	r, dir := newRemote(t, s, "conflict"), t.TempDir()
	c := &testCase{name: "c", text: "state: {N: {type: integer, default: 5}}\nsteps:\n  - {name: w, wait: {file: " + dirMark + "/go}}\n" +
		"  - {name: a, bash: 'echo N=$(({state.N} + $RANDOM + 1)) >> \"$FLOWRUN_STATE\"'}\n"}
	runs := []*progress{}
	for range 2 {
		p, err := r.start(t.Context(), c, dir)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, p)
		waittest.Until(t, "a step that waits", func() bool {
			d, err := r.client.DescribeWorkflowExecution(t.Context(), p.id(), "")
			return err == nil && len(d.GetPendingActivities()) == 1
		})
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, p := range runs {
		d := finish(t, r, p)
		if d["status"] == "failed" && d["reason"] == "state-conflict" {
			failed++
		} else if d["status"] != "succeeded" {
			t.Errorf("%v: %v", d["status"], d["message"])
		}
	}
	if failed != 1 {
		t.Errorf("%d of 2 runs failed", failed)
	}
}

// TestStateCommand: flowrun temporal state shows and sets the values that runs have.
func TestStateCommand(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "values")
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "c.yaml"), []byte("name: c\ndescription: d\nstate: {N: {type: integer, default: 5}}\nsteps: [{name: a, bash: 'echo N=$(({state.N} + 1)) >> \"$FLOWRUN_STATE\"'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program(t, "..", "cmd/flowrun-temporal"), append(args, "--address", s.address, "--task-queue", "values", "--store", s.storeDir())...)
		cmd.Env, cmd.Dir = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir, "HOME="+dir, "FLOWRUN_ENGINE=all"), dir
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return strings.TrimSpace(string(text))
	}
	for _, c := range []struct{ args, want string }{
		{"state get ./c.yaml N", "5"},
		{"state list", "flowrun: no values were set"},
		{"run ./c.yaml -q", ""},
		{"state get ./c.yaml N", "6"},
		{"state set ./c.yaml N=40", ""},
		{"run ./c.yaml -q", ""},
		{"state get ./c.yaml N", "41"},
	} {
		if text := command(strings.Fields(c.args)...); text != c.want {
			t.Errorf("%s: %q, want %q", c.args, text, c.want)
		}
	}
	if text := command("state", "list"); !strings.Contains(text, "41") || !strings.Contains(text, "run ") {
		t.Errorf("list: %s", text)
	}
}
