package faulttest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sshdtest"
)

// features returns a job whose steps leave something for later steps and later runs: outputs, a file, a value of the
// state. They hold a slot of a pool, repeat, send a request and run on another machine.
func features(t *testing.T) killJob {
	s := sshdtest.Start(t)
	return killJob{
		after: countedOnce,
		waits: map[string]string{"poll": "make", "send": "poll", "far": "send", "again": "far", "check": "again"},
		files: map[string]string{
			"config/flowrun/config.yaml": "pools: {gpu: 2}\n",
			"job.yaml": fmt.Sprintf(`name: NAME
description: What steps leave for others.
on-interrupt: retry
state: {N: {type: integer}}
steps:
  - name: make
    pool: gpu
    outputs: {word: string, run: string}
    artifacts: [made.txt]
    sh: 'START; echo content >made.txt; echo word=w >>"$FLOWRUN_OUTPUT"; echo "run=$FLOWRUN_RUN" >>"$FLOWRUN_OUTPUT"; echo "N=$(( {state.N} + 1 ))" >>"$FLOWRUN_STATE"; END'
  - name: poll
    repeat: {until: "{poll.outputs.rounds} >= 3", every: 5ms, max: 20}
    outputs: {rounds: integer}
    sh: 'START; echo x >>rounds; echo "rounds=$(wc -l <rounds)" >>"$FLOWRUN_OUTPUT"; END'
  - name: send
    http: {url: %[1]q, headers: {X-Life: "{env.LIFE}", X-Traces: "{env.TRACES}", X-Run: "{make.outputs.run}"}, json: {word: "{make.outputs.word}"}}
  - name: far
    ssh: {host: 127.0.0.1, port: %[2]s, user: %[3]s, key-file: %[4]q, known-hosts: %[5]q}
    environment: {LIFE: "{env.LIFE}", TRACES: "{env.TRACES}"}
    outputs: {word: string}
    sh: 'START; echo "word={make.outputs.word}far" >>"$FLOWRUN_OUTPUT"; END'
  - name: again # uses the connection that the run shares
    ssh: {host: 127.0.0.1, port: %[2]s, user: %[3]s, key-file: %[4]q, known-hosts: %[5]q}
    environment: {LIFE: "{env.LIFE}", TRACES: "{env.TRACES}"}
    sh: 'START; END'
  - {name: check, sh: 'START; test "$(cat {make.artifacts.made})" = content && test {far.outputs.word} = wfar && test {send.json.word} = w && test {poll.outputs.rounds} -ge 3 || exit 1; END'}
`, receiver(t), s.Port, s.User, s.KeyFile, s.KnownHosts),
		}}
}

// countedOnce checks that the state has counted the run, and once.
func countedOnce(s *story) {
	s.Helper()
	var state struct{ Values []struct{ Value any } }
	if err := json.Unmarshal([]byte(s.ask("state", "get", "./job.yaml", "-o", "json")), &state); err != nil {
		s.Fatal(err)
	}
	if len(state.Values) != 1 || state.Values[0].Value != 1.0 {
		s.Errorf("the state is %+v: %s", state, s.tale())
	}
}

// receiver starts a server that does what START and END do, for the step send. A run must always send the same key.
func receiver(t *testing.T) string {
	var keys sync.Map // of runs
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, err := os.OpenFile(r.Header.Get("X-Traces"), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		run, key := r.Header.Get("X-Run"), r.Header.Get("Idempotency-Key")
		if first, _ := keys.LoadOrStore(run, key); key == "" || first != key {
			t.Errorf("run %s sends the key %q, and has sent %q", run, key, first)
		}
		about := fmt.Sprintf(" send %s %s/send\n", r.Header.Get("X-Life"), run)
		fmt.Fprint(f, "start"+about+"end"+about)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"word": "w"}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// featuresKilledAtPoints kills an engine at each point that it passes in the job of features. Whatever happens, the state
// counts the run once, and nobody holds the pool.
func featuresKilledAtPoints(t *testing.T, b killBed) {
	job := features(t)
	t.Run("points", func(t *testing.T) {
		atEachPoint(t, b, job, points)
	})
	s := b.story(t, job, "after")
	var doc struct {
		Pools []struct{ Holders, Waiting []string }
		Runs  []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(s.ask("ps", "-o", "json")), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Pools)+len(doc.Runs) > 0 {
		t.Errorf("left: %+v", doc)
	}
}
