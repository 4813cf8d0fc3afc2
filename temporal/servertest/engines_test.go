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

// TestBothEngines: flowrun shows runs of both engines in one list, by time, and latest is the latest of both.
func TestBothEngines(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "both")
	dir := t.TempDir()
	flowrun, temporal := program(t, filepath.Join("..", ".."), "cmd/flowrun"), program(t, "..", "cmd/flowrun-temporal")
	if err := os.WriteFile(filepath.Join(dir, "hello.yaml"), []byte("name: hello\ndescription: d\nlabels: {team: ops}\nparameters: {WHO: {type: string, description: who, default: you}}\nsteps: [{name: greet, bash: 'echo hello {WHO}'}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	command := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(temporal)+":"+os.Getenv("PATH"), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "HOME="+dir,
			"TEMPORAL_ADDRESS="+s.address, "FLOWRUN_TASK_QUEUE=both", "FLOWRUN_STORE="+s.storeDir())
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return string(text)
	}
	var ids []string // newest first
	for _, words := range []string{"local", "temporal", "local", "temporal"} {
		who, args := "WHO="+words, []string{"run", "./hello.yaml", "-q", "-o", "json"}
		text := ""
		if words == "local" {
			text = command(flowrun, append(args, who)...)
		} else {
			text = command(flowrun, append(append([]string{"temporal"}, args...), who)...)
		}
		_, after, _ := strings.Cut(text, `"id": "`)
		id, _, _ := strings.Cut(after, `"`)
		ids = append([]string{id}, ids...)
		time.Sleep(time.Millisecond) // ids have that precision
	}
	listed := func(args ...string) (found []string) {
		for line := range strings.Lines(command(flowrun, append([]string{"runs", "-o", "jsonl"}, args...)...)) {
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
		if text := command(flowrun, "logs", id, "--engine", "all"); !strings.Contains(text, who) {
			t.Errorf("logs %s: %s", id, text)
		}
		for _, name := range []string{"show", "timeline", "events"} {
			if text := command(flowrun, name, id, "--engine", "all"); !strings.Contains(text, "greet") {
				t.Errorf("%s %s: %s", name, id, text)
			}
		}
	}
	if text := command(flowrun, "runs", "--engine", "all"); !strings.Contains(text, "ENGINE") || strings.Count(text, "temporal") != 2 {
		t.Errorf("runs: %s", text)
	}
	if text := command(flowrun, "stats", "hello", "--engine", "all"); !strings.Contains(text, "4") {
		t.Errorf("stats: %s", text)
	}
	if text := command(flowrun, "--color", "never", "diff", ids[0], ids[1], "--engine", "all"); !strings.Contains(text, "WHO") {
		t.Errorf("diff: %s", text)
	}
}
