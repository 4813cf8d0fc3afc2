package faulttest

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// timed is how long the schedules of a test go on, a slot a second, and how many there are.
type timed struct{ schedules, seconds int }

// TestSchedules: two services on one state directory, one of them killed with -9 again and
// again, fire each slot of each schedule exactly once.
func TestSchedules(t *testing.T) {
	t.Parallel()
	program := build(t)
	plan := timed{sizetest.Of(4, 12, 25), sizetest.Of(2, 5, 20)}
	var b killBed
	var project string
	var start time.Time
	var pair []*host
	var db *sql.DB
	for lead := time.Second; ; lead *= 2 { // until the schedules are known before their first slot
		dir := t.TempDir()
		b, project = killBed{program, filepath.Join(dir, "state")}, filepath.Join(dir, "project")
		start = time.Now().Add(lead + time.Second).Truncate(time.Second)
		plan.write(t, project, start)
		pair = []*host{b.serve(t, project), b.serve(t, project)}
		db = b.open(t)
		var known int
		var err error
		waittest.Until(t, "the schedules", func() bool {
			err = db.QueryRowContext(t.Context(), "SELECT count(*) FROM cursors").Scan(&known)
			return err == nil && known == plan.schedules
		}, func() any { return err }, func() any { return known })
		if time.Now().Before(start) {
			break
		}
		pair[0].kill()
		pair[1].kill()
	}
	random := rand.New(rand.NewPCG(sizetest.Seed(t), 0))
	kills := 0
	for end := start.Add(time.Duration(plan.seconds)*time.Second + 2*time.Second); time.Now().Before(end); kills++ {
		time.Sleep(time.Duration(100+random.IntN(900)) * time.Millisecond)
		i := random.IntN(2)
		pair[i].kill()
		pair[i] = b.serve(t, project)
	}
	want := plan.schedules * plan.seconds
	waittest.Holds(waittest.Limit, func() bool { // what is wrong is reported below
		return count(t, db, "SELECT count(*) FROM runs JOIN firings ON run = id WHERE status = 'succeeded'") == want
	})
	t.Logf("%d slots, %d kills", want, kills)
	for about, c := range map[string]struct {
		query string
		want  int
	}{
		"slots with a run that succeeded": {"SELECT count(*) FROM runs JOIN firings ON run = id WHERE status = 'succeeded' AND origin LIKE 'schedule:%'", want},
		"slots":                           {"SELECT count(*) FROM firings", want},
		"slots left out":                  {"SELECT count(*) FROM firings WHERE run = ''", 0},
		"slots whose run did not begin":   {"SELECT count(*) FROM firings WHERE open = 1", 0},
		"runs":                            {"SELECT count(*) FROM runs", want},
		"first slots":                     {fmt.Sprintf("SELECT count(*) FROM firings WHERE slot = %d", start.UnixNano()), plan.schedules},
		"seconds with slots":              {"SELECT count(DISTINCT slot) FROM firings", plan.seconds},
	} {
		if got := count(t, db, c.query); got != c.want {
			t.Errorf("%s: %d, want %d", about, got, c.want)
		}
	}
	if t.Failed() {
		for _, h := range pair {
			h.kill()
			t.Log(h.stderr.String())
		}
	}
	b.integrity(t)
}

// write makes a project with a tool that has the schedules.
func (p timed) write(t *testing.T, project string, start time.Time) {
	t.Helper()
	var b strings.Builder
	b.WriteString("name: tick\ndescription: d\nrun: \"true\"\nidempotent: true\nschedule:\n")
	for i := range p.schedules {
		fmt.Fprintf(&b, "  - {every: 1s, name: s%d, start: %q, end: %q, overlap: allow, catch-up: all}\n", i,
			start.UTC().Format(time.RFC3339), start.Add(time.Duration(p.seconds)*time.Second).UTC().Format(time.RFC3339))
	}
	tools := filepath.Join(project, ".flowrun", "tools")
	if err := os.MkdirAll(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "tick.yaml"), []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// host is a service.
type host struct {
	*exec.Cmd
	stderr bytes.Buffer
}

// serve starts a service in a project.
func (b killBed) serve(t *testing.T, project string) *host {
	t.Helper()
	h := &host{Cmd: exec.Command(b.program, "serve", "--listen", "127.0.0.1:0")}
	h.Dir, h.Stderr = project, &h.stderr
	h.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "FLOWRUN_") })
	h.Env = append(h.Env, "FLOWRUN_STATE_DIR="+b.state, "FLOWRUN_TOKEN=0123456789abcdef0123456789abcdef")
	if err := h.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.kill)
	return h
}

func (h *host) kill() {
	h.Process.Kill()
	h.Wait()
}

// open opens the history beside the services.
func (b killBed) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.state, "history.db")+"?mode=rw&_pragma=busy_timeout(10000)&_query_only=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
