package sqlite

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Turns with one event, as in a run of steps one after the other.
func BenchmarkAppend1(b *testing.B) { benchmarkAppend(b, 1) }

// One operation is a turn of 100 events: 50 steps that start and end immediately.
func BenchmarkAppend100(b *testing.B) { benchmarkAppend(b, 100) }

func benchmarkAppend(b *testing.B, n int) {
	s := openTest(b, b.TempDir())
	l, err := s.Begin(context.Background(), &history.Record{ID: "r", Tool: "t", Created: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	result := &dag.Result{Status: dag.Succeeded, Attempts: 1, Started: time.Now(), Ended: time.Now(), Stdout: &dag.Output{Inline: "hello\n", Size: 6}}
	events := make([]dag.Event, n)
	for i := range events {
		events[i] = dag.Event{V: 1, Run: "r", Kind: dag.StepStarted, Node: dag.ID(fmt.Sprintf("group/step%d", i)), Attempt: 1, Time: time.Now()}
		if i%2 == 1 {
			events[i].Kind, events[i].Result = dag.StepFinished, result
		}
	}
	seq := uint64(0)
	b.ReportAllocs()
	for b.Loop() {
		for i := range events {
			seq++
			events[i].Seq = seq
		}
		if err := l.Append(context.Background(), events); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(s.wal.syncs.Load())*100/float64(b.N*n), "syncs/100events")
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
