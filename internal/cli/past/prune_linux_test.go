package past

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestPruneFreesWhatItSays: --max-size is what du shows afterwards, and the printed number is the difference that du shows.
func TestPruneFreesWhatItSays(t *testing.T) {
	state := t.TempDir()
	t.Setenv("FLOWRUN_STATE_DIR", state)
	s, err := sqlite.Open(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	many := sizetest.Of[int64](1, 5, 250)
	for i := range 400 * int(many) { // of each run a small file, which takes a block, and of one in ten a larger one
		id := history.NewID(time.Now())
		l, err := s.Begin(t.Context(), &history.Record{ID: id, Tool: "t", Created: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		events := []dag.Event{{Kind: dag.RunFinished, Seq: 1, Run: id, Time: time.Now(), Result: &dag.Result{Status: dag.Succeeded, Ended: time.Now()}}}
		logs := rundir.LogFolder(state, id)
		if err := l.Append(t.Context(), events); err != nil || l.Close() != nil || os.MkdirAll(logs, 0o700) != nil {
			t.Fatal(err)
		}
		size := 1
		if i%10 == 0 {
			size = 100_000
		}
		if err := os.WriteFile(filepath.Join(logs, "a.out"), bytes.Repeat([]byte("x"), size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		policy      sqlite.Policy
		most, least int64 // of what is left
	}{
		{sqlite.Policy{Keep: 300 * int(many)}, many * 9 << 20, many * 4 << 20},
		{sqlite.Policy{MaxSize: many * 4_000_000}, many * 4_000_000, many * 3_300_000},
		{sqlite.Policy{MaxSize: many * 1_000_000}, many * 1_000_000, many * 600_000},
	} {
		var out strings.Builder
		before := du(t, state)
		if err := prune(&ui.Env{Terminal: ui.Terminal{Stdout: &out, Stderr: &out}}, c.policy); err != nil {
			t.Fatal(err)
		}
		after := du(t, state)
		var runs int
		var freed float64
		var unit string
		if _, err := fmt.Sscanf(out.String(), "removed %d runs, freed %f %s", &runs, &freed, &unit); err != nil {
			t.Fatalf("%s: %v", &out, err)
		}
		said, err := ui.ParseBytes(fmt.Sprintf("%.1f%s", freed, unit))
		if off := before - after - said; err != nil || off < -100_000*many || off > 100_000*many {
			t.Errorf("%+v: %s but du went from %d to %d: %v", c.policy, &out, before, after, err)
		}
		left := after - du(t, filepath.Join(state, "history.reserve"), filepath.Join(state, "history.db-shm"))
		if left > c.most+64<<10 || left < c.least {
			t.Errorf("%+v: %s %d bytes are left", c.policy, &out, left)
		}
	}
}

// du returns how many bytes du counts.
func du(t *testing.T, paths ...string) (sum int64) {
	t.Helper()
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		out, err := exec.Command("du", "-s", "-B1", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		word, _, _ := strings.Cut(string(out), "\t")
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}
