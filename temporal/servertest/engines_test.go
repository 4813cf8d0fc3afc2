package servertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// bothEngines starts a server with a worker of a task queue, writes files into a folder, and returns a function that runs flowrun
// there. It returns what flowrun prints, and expects its exit code.
func bothEngines(t *testing.T, queue string, files map[string]string) func(code int, args ...string) string {
	s := startServer(t)
	startWorker(t, s, s.address, queue)
	dir := t.TempDir()
	flowrun, temporal := program(t, filepath.Join("..", ".."), "cmd/flowrun"), program(t, "..", "cmd/flowrun-temporal")
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return func(code int, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), flowrun, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(temporal)+":"+os.Getenv("PATH"), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "HOME="+dir,
			"TEMPORAL_ADDRESS="+s.address, "FLOWRUN_TASK_QUEUE="+queue, "FLOWRUN_STORE="+s.storeDir())
		text, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != code {
			t.Fatalf("%v: %v, want exit code %d\n%s", args, err, code, text)
		}
		return string(text)
	}
}

// TestBothEngines: flowrun shows runs of both engines in one list, by time, and latest is the latest of both.
func TestBothEngines(t *testing.T) {
	t.Parallel()
	command := bothEngines(t, "both", map[string]string{"hello.yaml": "name: hello\ndescription: d\nlabels: {team: ops}\nparameters: {WHO: {type: string, description: who, default: you}}\nsteps: [{name: greet, bash: 'echo hello {WHO}'}]\n"})
	var ids []string // newest first
	for _, words := range []string{"local", "temporal", "local", "temporal"} {
		who, args := "WHO="+words, []string{"run", "./hello.yaml", "-q", "-o", "json"}
		text := ""
		if words == "local" {
			text = command(0, append(args, who)...)
		} else {
			text = command(0, append(append([]string{"temporal"}, args...), who)...)
		}
		_, after, _ := strings.Cut(text, `"id": "`)
		id, _, _ := strings.Cut(after, `"`)
		ids = append([]string{id}, ids...)
		time.Sleep(time.Millisecond) // ids have that precision
	}
	listed := func(args ...string) (found []string) {
		for line := range strings.Lines(command(0, append([]string{"runs", "-o", "jsonl"}, args...)...)) {
			_, after, _ := strings.Cut(line, `"id":"`)
			id, _, _ := strings.Cut(after, `"`)
			found = append(found, id)
		}
		return found
	}
	waittest.Until(t, "all runs in the list", func() bool { return len(listed("--engine", "all")) == len(ids) })
	for args, want := range map[string][]string{
		"--engine all":                      ids,
		"--engine temporal":                 {ids[0], ids[2]},
		"":                                  {ids[1], ids[3]},
		"--engine all --limit 3":            ids[:3],
		"--engine all --param WHO=temporal": {ids[0], ids[2]},
		"--engine all --label team=ops --limit 0":      ids,
		"--engine all --label team=dev --limit 0":      nil,
		"--engine all --origin schedule":               nil,
		"--engine all --tool hello --status succeeded": ids,
	} {
		if got := listed(strings.Fields(args)...); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("runs %s: %v, want %v", args, got, want)
		}
	}
	for _, id := range append([]string{"latest"}, ids...) {
		who := "hello temporal"
		if id == ids[1] || id == ids[3] {
			who = "hello local"
		}
		if text := command(0, "logs", id, "--engine", "all"); !strings.Contains(text, who) {
			t.Errorf("logs %s: %s", id, text)
		}
		for _, name := range []string{"show", "timeline", "events"} {
			if text := command(0, name, id, "--engine", "all"); !strings.Contains(text, "greet") {
				t.Errorf("%s %s: %s", name, id, text)
			}
		}
	}
	if text := command(0, "runs", "--engine", "all"); !strings.Contains(text, "ENGINE") || strings.Count(text, "temporal") != 2 {
		t.Errorf("runs: %s", text)
	}
	if text := command(0, "stats", "hello", "--engine", "all"); !strings.Contains(text, "4") {
		t.Errorf("stats: %s", text)
	}
	if text := command(0, "--color", "never", "diff", ids[0], ids[1], "--engine", "all"); !strings.Contains(text, "WHO") {
		t.Errorf("diff: %s", text)
	}
}

// TestActsOnBothEngines: an answer and a cancel reach the run with the id, whatever its engine is, and what is not possible on
// Temporal is refused with a reason.
func TestActsOnBothEngines(t *testing.T) {
	t.Parallel()
	command := bothEngines(t, "acts", map[string]string{"asks.yaml": "name: asks\ndescription: d\nsteps:\n  - {name: gate, approve: {prompt: 'Go on?'}}\n  - {name: after, bash: echo went on}\n"})
	start := map[string]func() string{
		"local": func() string {
			_, after, _ := strings.Cut(command(7, "run", "./asks.yaml", "-q", "-o", "json", "--no-input"), `"id": "`)
			id, _, _ := strings.Cut(after, `"`)
			return id
		},
		"temporal": func() string { return strings.TrimSpace(command(0, "temporal", "run", "./asks.yaml", "--detach")) },
	}
	until := func(id, status string) {
		t.Helper()
		waittest.Until(t, "run "+id+" "+status, func() bool { return strings.Contains(command(0, "show", id, "--engine", "all"), status) })
	}
	for engine, start := range start {
		id := start()
		until(id, "waiting")
		if text := command(0, "approve", id, "--engine", "all"); !strings.Contains(text, "approved step gate of run "+id) {
			t.Errorf("approve on %s: %s", engine, text)
		}
		until(id, "succeeded")
		id = start()
		until(id, "waiting")
		if text := command(0, "reject", id, "gate", "--comment", "no", "--engine", "all"); !strings.Contains(text, "rejected step gate of run "+id) {
			t.Errorf("reject on %s: %s", engine, text)
		}
		until(id, "failed")
		id = start()
		until(id, "waiting")
		command(0, "cancel", id, "--engine", "all")
		until(id, "cancelled")
	}
	local := start["local"]()
	time.Sleep(time.Millisecond) // ids have that precision
	remote := start["temporal"]()
	until(remote, "waiting")
	command(4, "approve", remote)
	for _, verb := range []string{"resume", "retry"} {
		if text := command(5, verb, remote, "--engine", "all"); !strings.Contains(text, "it is on Temporal, and waits for an answer") {
			t.Errorf("%s: %s", verb, text)
		}
	}
	if text := command(0, "approve", "latest", "--engine", "all"); !strings.Contains(text, remote) {
		t.Errorf("the latest question is that of %s: %s", remote, text)
	}
	until(remote, "succeeded")
	if text := command(5, "retry", remote, "--from", "after", "--engine", "temporal"); !strings.Contains(text, "flowrun temporal run asks") {
		t.Errorf("retry: %s", text)
	}
	if text := command(0, "approve", "latest", "--engine", "all"); !strings.Contains(text, local) {
		t.Errorf("the latest question is that of %s: %s", local, text)
	}
}
