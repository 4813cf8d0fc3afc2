package storetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// receiveAnswer waits until the owner receives an answer.
func receiveAnswer(t *testing.T, l history.Ledger) history.Answer {
	t.Helper()
	select {
	case a := <-l.Answers():
		return a
	case <-time.After(waittest.Limit):
		t.Fatal("the owner did not receive the answer")
	}
	return history.Answer{}
}

func noAnswer(t *testing.T, l history.Ledger) {
	t.Helper()
	select {
	case a := <-l.Answers():
		t.Errorf("the owner received %+v", a)
	default:
	}
}

// The first answer to a question counts, and every owner receives it.
func testAnswers(t *testing.T, s history.Store) {
	ctx := context.Background()
	l := begin(t, s, record("r1", "deploy"))
	bystander := begin(t, s, record("r2", "deploy"))
	appendAll(t, l, turn("r1", 1, 3)...)
	want(t, s.Answer(ctx, "nobody", history.Answer{Step: "gate", Wait: 3}), history.ErrNoRun)

	first := history.Answer{Step: "gate", Wait: 3, Approve: true, Values: map[string]any{"NOTE": "O'Hara\u2028", "LIST": []any{"a", true, nil}}, Comment: "go\non", By: "ann", At: runStart}
	if err := s.Answer(ctx, "r1", first); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, receiveAnswer(t, l)); diff != "" {
		t.Error(diff)
	}
	err := s.Answer(ctx, "r1", history.Answer{Step: "gate", Wait: 3, By: "bob"})
	want(t, err, history.ErrAnswered)
	if err == nil || !strings.Contains(err.Error(), "approved by ann at 2026-11-21T10:00:00Z") {
		t.Errorf("the second answer returned %v", err)
	}
	// A later question of the same step is a different question; so is one of another run.
	second := history.Answer{Step: "gate", Wait: 7}
	before := time.Now()
	if err := s.Answer(ctx, "r1", second); err != nil {
		t.Fatal(err)
	}
	if got := receiveAnswer(t, l); got.Approve || got.Wait != 7 || got.At.Before(before.Add(-time.Second)) {
		t.Errorf("the owner received %+v", got)
	}
	if err := s.Answer(ctx, "r2", history.Answer{Step: "gate", Wait: 3}); err != nil {
		t.Error(err)
	}
	if got := receiveAnswer(t, bystander); got.Wait != 3 {
		t.Errorf("the other run received %+v", got)
	}
	noAnswer(t, l)

	// The next owner gets all of them immediately, also those given while there was no
	// owner.
	l.Close()
	if err := s.Answer(ctx, "r1", history.Answer{Step: "last", Wait: 9, Approve: true}); err != nil {
		t.Fatal(err)
	}
	l = claim(t, s, "r1", 3)
	var got []uint64
	for range 3 {
		select {
		case a := <-l.Answers():
			got = append(got, a.Wait)
		default:
			t.Fatal("what is on record is not there at once")
		}
	}
	if diff := cmp.Diff([]uint64{3, 7, 9}, got); diff != "" {
		t.Error(diff)
	}
	if err := s.Answer(ctx, "r2", history.Answer{Step: "gate", Wait: 4}); err != nil {
		t.Error(err)
	}
	receiveAnswer(t, bystander) // by now the owner of r1 would have received an answer too
	noAnswer(t, l)
	if err := s.Answer(ctx, "r1", history.Answer{Step: "last", Wait: 11}); err != nil {
		t.Fatal(err)
	}
	if a := receiveAnswer(t, l); a.Wait != 11 {
		t.Errorf("the next owner received %+v", a)
	}
}

// Numbers among the values keep all digits, and every one of many answers is received.
func testManyAnswers(t *testing.T, s history.Store) {
	l := begin(t, s, record("r1", "deploy"))
	many := sizetest.Of(60, 200, 200)
	for i := range uint64(many) {
		a := history.Answer{Step: "gate", Wait: i + 1, Approve: true, Values: map[string]any{"N": int64(9007199254740993)}}
		if err := s.Answer(context.Background(), "r1", a); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[uint64]bool{}
	for len(seen) < many {
		a := receiveAnswer(t, l)
		if seen[a.Wait] {
			t.Fatalf("answer %d was received twice", a.Wait)
		}
		if seen[a.Wait] = true; len(seen) == 1 {
			if n, err := a.Values["N"].(interface{ Int64() (int64, error) }).Int64(); err != nil || n != 9007199254740993 {
				t.Errorf("the number is %v", a.Values["N"])
			}
		}
	}
}

// A suspended run is Waiting, has no owner, and can be claimed immediately.
func testSuspend(t *testing.T, s history.Store) {
	l := begin(t, s, record("r1", "deploy"))
	appendAll(t, l, turn("r1", 1, 2)...)
	if err := l.Suspend("step gate waits for approval: continue?", false); err != nil {
		t.Fatal(err)
	}
	resting := history.RunInfo{ID: "r1", Tool: "deploy", Status: dag.Waiting, Message: "step gate waits for approval: continue?", Started: runStart, Epoch: 1}
	check := func(when string, expected history.RunInfo) {
		t.Helper()
		if diff := cmp.Diff(expected, info(t, s, "r1")); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		list, err := s.Runs(context.Background(), history.Query{Status: []dag.Status{expected.Status}})
		if err != nil || len(list) != 1 {
			t.Errorf("%s: among those %v is %v, %v", when, expected.Status, list, err)
		}
	}
	check("waiting", resting)
	want(t, l.Append(context.Background(), turn("r1", 3, 3)), history.ErrFenced)
	l.Close()
	check("waiting and closed", resting)
	for _, wait := range []uint64{7, 2} {
		if err := s.Answer(context.Background(), "r1", history.Answer{Step: "gate", Wait: wait, Approve: true}); err != nil {
			t.Fatal(err)
		}
	}
	resting.Answered = []uint64{2, 7}
	check("answered", resting)
	want(t, l.Suspend("again", false), history.ErrFenced)

	l = claim(t, s, "r1", 2)
	_, err := s.Claim(context.Background(), "r1", 2)
	want(t, err, history.ErrLive)
	appendAll(t, l, dag.Event{V: 1, Seq: 3, Run: "r1", Kind: dag.RunResumed, Time: runStart})
	check("resumed", history.RunInfo{ID: "r1", Tool: "deploy", Status: dag.Running, Started: runStart, PID: info(t, s, "r1").PID, Epoch: 2})
	appendAll(t, l, end("r1", 4, dag.Failed))
	l.Close()
	check("ended", history.RunInfo{ID: "r1", Tool: "deploy", Status: dag.Failed, ExitCode: 3, Reason: "exit", Message: "a failed", Started: runStart, Ended: runStart.Add(time.Minute), Epoch: 2})
}
