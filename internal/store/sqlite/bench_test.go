package sqlite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// One operation is a turn of a run of many steps: a step ends, the next one starts.
func BenchmarkAppend(b *testing.B) {
	s := openTest(b, b.TempDir())
	l := beginTest(b, s, "1m83ww0epz1x2")
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		must(b, l.Append(context.Background(), stepTurn(n)))
		n++
	}
	b.ReportMetric(float64(s.db.wal.size())/float64(b.N), "walbytes/op")
	b.ReportMetric(float64(s.db.wal.syncs.Load())/float64(b.N), "syncs/op")
}

// stepTurn returns the n-th turn of a run.
func stepTurn(n int) []dag.Event {
	at := time.Now().UTC()
	return []dag.Event{
		{V: 1, Seq: uint64(2*n + 1), Run: "1m83ww0epz1x2", Kind: dag.StepFinished, Node: dag.ID(fmt.Sprintf("n%d_%d", n/100, n%100)), Attempt: 1, Time: at,
			Result: &dag.Result{Status: dag.Succeeded, Attempts: 1, Started: at.Add(-1183853), Ended: at.Add(-2734)}},
		{V: 1, Seq: uint64(2*n + 2), Run: "1m83ww0epz1x2", Kind: dag.StepStarted, Node: dag.ID(fmt.Sprintf("n%d_%d", n/100+1, n%100)), Attempt: 1, Time: at, Queued: 147422157},
	}
}

// A step takes a bounded number of bytes, in the WAL while the run lasts, and in the file.
func TestBytesOfStep(t *testing.T) {
	const steps, most, kept = 5000, 1400, 90
	dir := t.TempDir()
	s := openTest(t, dir)
	l := beginTest(t, s, "1m83ww0epz1x2")
	before := s.db.wal.size()
	for n := range steps {
		must(t, l.Append(context.Background(), stepTurn(n)))
	}
	written := (s.db.wal.size() - before) / steps
	must(t, s.Close())
	info, err := os.Stat(filepath.Join(dir, dbName))
	must(t, err)
	if written > most || info.Size()/steps > kept {
		t.Errorf("a step takes %d bytes in the WAL, at most %d, and %d in the file, at most %d", written, most, info.Size()/steps, kept)
	}
}

// One operation is a run without steps: started, admitted and closed. A run without demands
// must not pay for those that have some.
func BenchmarkRunPlain(b *testing.B) { benchmarkRun(b, nil) }
func BenchmarkRunLocked(b *testing.B) {
	benchmarkRun(b, []history.LockDemand{{Kind: history.DemandLock, Name: "db", Slots: 1}})
}

func benchmarkRun(b *testing.B, needs []history.LockDemand) {
	s := openTest(b, b.TempDir())
	ctx := context.Background()
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		l, err := s.Begin(ctx, &history.Record{ID: fmt.Sprint("r", n), Tool: "t", Created: time.Now()})
		if err == nil {
			err = l.Admit(ctx, history.Admission{Demands: needs})
		}
		if err == nil {
			err = l.Close()
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
