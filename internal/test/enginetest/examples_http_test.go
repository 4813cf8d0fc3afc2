package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/library"
)

// jobAPI is an API of jobs. Every second request is refused because it is busy.
type jobAPI struct {
	mu       sync.Mutex
	requests int
	jobs     map[string]string // names, by Idempotency-Key
	polls    int
	last     string // state of a job after three polls
	bad      []string
}

// ServeHTTP implements http.Handler.
func (a *jobAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer hunter22-token" {
		a.bad = append(a.bad, "no token for "+r.URL.Path)
	}
	key := r.Header.Get("Idempotency-Key")
	var job struct{ Name string }
	if r.Method == "POST" {
		if err := json.NewDecoder(r.Body).Decode(&job); err != nil || key == "" {
			a.bad = append(a.bad, "a job without name or key")
		}
		a.jobs[key] = job.Name // although the response is lost
	}
	if a.requests++; a.requests%2 == 1 {
		w.Header().Set("Retry-After", "3600") // bounded by max-delay
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	switch r.Method + " " + r.URL.Path {
	case "POST /jobs":
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id": "7/8"}`)
	case "GET /jobs/7/8":
		state := "running"
		if a.polls++; a.polls >= 3 {
			state = a.last
		}
		fmt.Fprintf(w, `{"state": %q}`, state)
	case "GET /jobs/7/8/result":
		io.WriteString(w, "a,b\n1,2\n")
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestPollJobExample runs a job at an API that is often busy, and one that fails.
func TestPollJobExample(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("examples/poll-job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`delay: [0-9]+s`).ReplaceAllString(string(b), "delay: 1ms, max-delay: 2ms")
	text = strings.Replace(text, "every: 2s", "every: 1ms", 1)
	for last, want := range map[string]dag.Status{"done": dag.Succeeded, "failed": dag.Failed} {
		api := &jobAPI{jobs: map[string]string{}, last: last}
		s := httptest.NewServer(api)
		defer s.Close()
		dir := folder(t, map[string]string{"poll-job.yaml": text})
		p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), filepath.Join(dir, "poll-job.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(engine.Config{Fetch: netclient.Fetch}).Run(context.Background(), p, map[string]any{"API": s.URL, "NAME": "a 'b'", "INTO": "result.csv"},
			engine.WithRunEnv(world(dir, "JOBS_TOKEN=hunter22-token")))
		if err != nil || res.Status != want || len(api.jobs) != 1 || len(api.bad) > 0 {
			t.Fatalf("%s: %v, %s: %s, jobs %v, %v\n%+v", last, err, res.Status, res.Message, api.jobs, api.bad, res.Steps)
		}
		saved, _ := os.ReadFile(filepath.Join(dir, "result.csv"))
		if want == dag.Succeeded && (string(saved) != "a,b\n1,2\n" || res.Output != "a 'b' is ready after 6 polls, in result.csv\n") {
			t.Errorf("saved %q, output %q", saved, res.Output)
		}
		if want == dag.Failed && saved != nil {
			t.Errorf("saved %q of a job that failed", saved)
		}
	}
}
