package servertest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// both is a folder from which flowrun reaches its history and a Temporal service.
type both struct {
	t       *testing.T
	dir     string
	env     []string
	flowrun string
}

// bothEngines starts a server with a worker of a task queue, and writes files into a folder.
func bothEngines(t *testing.T, queue string, files map[string]string) *both {
	s := startServer(t)
	startWorker(t, s, s.address, queue)
	temporal := program(t, "..", "cmd/flowrun-temporal")
	b := &both{t: t, dir: t.TempDir(), flowrun: program(t, filepath.Join("..", ".."), "cmd/flowrun")}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.env = append(os.Environ(), "PATH="+filepath.Dir(temporal)+":"+os.Getenv("PATH"), "FLOWRUN_STATE_DIR="+filepath.Join(b.dir, "state"), "HOME="+b.dir,
		"TEMPORAL_ADDRESS="+s.address, "FLOWRUN_TASK_QUEUE="+queue, "FLOWRUN_STORE="+s.storeDir())
	return b
}

// start returns flowrun with arguments.
func (b *both) start(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(b.t.Context(), b.flowrun, args...)
	cmd.Dir, cmd.Env = b.dir, b.env
	return cmd
}

// command runs flowrun, and returns what it prints. It expects its exit code.
func (b *both) command(code int, args ...string) string {
	b.t.Helper()
	cmd := b.start(args...)
	text, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != code {
		b.t.Fatalf("%v: %v, want exit code %d\n%s", args, err, code, text)
	}
	return string(text)
}

// TestBothEngines: flowrun shows runs of both engines in one list, by time, and latest is the latest of both.
func TestBothEngines(t *testing.T) {
	t.Parallel()
	b := bothEngines(t, "both", map[string]string{"hello.yaml": "name: hello\ndescription: d\nlabels: {team: ops}\nparameters: {WHO: {type: string, description: who, default: you}}\nsteps: [{name: greet, bash: 'echo hello {WHO}'}]\n"})
	var ids []string // newest first
	for _, words := range []string{"local", "temporal", "local", "temporal"} {
		who, args := "WHO="+words, []string{"run", "./hello.yaml", "-q", "-o", "json"}
		text := ""
		if words == "local" {
			text = b.command(0, append(args, who)...)
		} else {
			text = b.command(0, append(append([]string{"temporal"}, args...), who)...)
		}
		_, after, _ := strings.Cut(text, `"id": "`)
		id, _, _ := strings.Cut(after, `"`)
		ids = append([]string{id}, ids...)
		time.Sleep(time.Millisecond) // ids have that precision
	}
	listed := func(args ...string) (found []string) {
		for line := range strings.Lines(b.command(0, append([]string{"runs", "-o", "jsonl"}, args...)...)) {
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
		if text := b.command(0, "logs", id, "--engine", "all"); !strings.Contains(text, who) {
			t.Errorf("logs %s: %s", id, text)
		}
		for _, name := range []string{"show", "timeline", "events"} {
			if text := b.command(0, name, id, "--engine", "all"); !strings.Contains(text, "greet") {
				t.Errorf("%s %s: %s", name, id, text)
			}
		}
	}
	if text := b.command(0, "runs", "--engine", "all"); !strings.Contains(text, "ENGINE") || strings.Count(text, "temporal") != 2 {
		t.Errorf("runs: %s", text)
	}
	if text := b.command(0, "stats", "hello", "--engine", "all"); !strings.Contains(text, "4") {
		t.Errorf("stats: %s", text)
	}
	if text := b.command(0, "--color", "never", "diff", ids[0], ids[1], "--engine", "all"); !strings.Contains(text, "WHO") {
		t.Errorf("diff: %s", text)
	}
}

// asksFile has a tool that waits for an answer.
var asksFile = map[string]string{"asks.yaml": "name: asks\ndescription: d\nsteps:\n  - {name: gate, approve: {prompt: 'Go on?'}}\n  - {name: after, bash: echo went on}\n"}

// asksHere runs asks on this machine until it waits for its answer, and returns the id of the run.
func (b *both) asksHere() string {
	b.t.Helper()
	_, after, _ := strings.Cut(b.command(7, "run", "./asks.yaml", "-q", "-o", "json", "--no-input"), `"id": "`)
	id, _, _ := strings.Cut(after, `"`)
	return id
}

// asksThere starts asks on Temporal, and returns the id of the run.
func (b *both) asksThere() string {
	b.t.Helper()
	return strings.TrimSpace(b.command(0, "temporal", "run", "./asks.yaml", "--detach"))
}

// TestActsOnBothEngines: an answer and a cancel reach the run with the id, whatever its engine is, and what is not possible on
// Temporal is refused with a reason.
func TestActsOnBothEngines(t *testing.T) {
	t.Parallel()
	b := bothEngines(t, "acts", asksFile)
	start := map[string]func() string{"local": b.asksHere, "temporal": b.asksThere}
	until := func(id, status string) {
		t.Helper()
		waittest.Until(t, "run "+id+" "+status, func() bool { return strings.Contains(b.command(0, "show", id, "--engine", "all"), status) })
	}
	for engine, start := range start {
		id := start()
		until(id, "waiting")
		if text := b.command(0, "approve", id, "--engine", "all"); !strings.Contains(text, "approved step gate of run "+id) {
			t.Errorf("approve on %s: %s", engine, text)
		}
		until(id, "succeeded")
		id = start()
		until(id, "waiting")
		if text := b.command(0, "reject", id, "gate", "--comment", "no", "--engine", "all"); !strings.Contains(text, "rejected step gate of run "+id) {
			t.Errorf("reject on %s: %s", engine, text)
		}
		until(id, "failed")
		id = start()
		until(id, "waiting")
		b.command(0, "cancel", id, "--engine", "all")
		until(id, "cancelled")
	}
	local := start["local"]()
	time.Sleep(time.Millisecond) // ids have that precision
	remote := start["temporal"]()
	until(remote, "waiting")
	b.command(4, "approve", remote)
	if text := b.command(7, "resume", remote, "--engine", "all", "--no-input"); !strings.Contains(text, "gate") {
		t.Errorf("resume: %s", text)
	}
	if text := b.command(0, "approve", "latest", "--engine", "all"); !strings.Contains(text, remote) {
		t.Errorf("the latest question is that of %s: %s", remote, text)
	}
	until(remote, "succeeded")
	if text := b.command(5, "retry", remote, "--from", "after", "--engine", "temporal"); !strings.Contains(text, "it is on Temporal") {
		t.Errorf("retry: %s", text)
	}
	if text := b.command(0, "approve", "latest", "--engine", "all"); !strings.Contains(text, local) {
		t.Errorf("the latest question is that of %s: %s", local, text)
	}
}

// TestServiceOfBothEngines: the HTTP API has the runs of both engines in one list, and answers and cancels those on Temporal.
func TestServiceOfBothEngines(t *testing.T) {
	t.Parallel()
	b := bothEngines(t, "served", asksFile)
	here := b.asksHere()
	time.Sleep(time.Millisecond) // ids have that precision
	first, second := b.asksThere(), b.asksThere()
	service := b.start("serve", "--engine", "all", "--listen", "unix:door.sock")
	var log bytes.Buffer
	service.Stderr = &log
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = service.Process.Signal(syscall.SIGTERM)
		if err := service.Wait(); err != nil || t.Failed() {
			t.Errorf("the service ended: %v\n%s", err, log.String())
		}
	}()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(b.dir, "state", "service.sock"))
	}}}
	call := func(method, path string) (code int, text string) {
		request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, "http://flowrun/api/v1/runs"+path, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, string(body)
	}
	until := func(path string, words ...string) {
		t.Helper()
		last := ""
		waittest.Until(t, path+" with "+strings.Join(words, ", "), func() bool {
			_, last = call("GET", path)
			return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(last, w) })
		}, func() any { return last })
	}
	until("", here, first, second, `"engine":"temporal"`)
	for path, words := range map[string][]string{"/" + here: {`"waiting"`}, "/" + first: {`"waiting"`, `"gate"`}, "/" + first + "/questions": {"Go on?"}} {
		until(path, words...)
	}
	followed := make(chan string)
	go func() {
		_, text := call("GET", "/"+first+"/events")
		followed <- text
	}()
	if code, text := call("POST", "/"+first+"/approve"); code >= 300 {
		t.Errorf("approve: %d %s", code, text)
	}
	until("/"+first, `"succeeded"`, "went on")
	until("/"+first+"/logs", "went on")
	if text := <-followed; !strings.Contains(text, "run.finished") || !strings.Contains(text, "event: end") {
		t.Errorf("the events end with %s", text[max(0, len(text)-1000):])
	}
	if code, text := call("POST", "/"+second+"/cancel"); code >= 300 {
		t.Errorf("cancel: %d %s", code, text)
	}
	until("/"+second, `"cancelled"`)
	for _, verb := range []string{"resume", "retry"} {
		if code, text := call("POST", "/"+second+"/"+verb); code != 409 || !strings.Contains(text, "other-engine") {
			t.Errorf("%s: %d %s", verb, code, text)
		}
	}
	if code, text := call("GET", "/unknown"); code != 404 {
		t.Errorf("an unknown run: %d %s", code, text)
	}
}
