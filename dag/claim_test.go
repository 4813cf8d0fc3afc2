package dag_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// pools gives what nodes claim: as many at the same time as its size.
type pools struct {
	mu    sync.Mutex
	free  chan struct{}
	held  []dag.ID
	given int
}

func newPools(n int) *pools {
	p := &pools{free: make(chan struct{}, n)}
	for range n {
		p.free <- struct{}{}
	}
	return p
}

func (p *pools) acquire(ctx context.Context, path dag.ID, claim any) (func(), error) {
	if claim != "gpu" {
		return nil, fmt.Errorf("the claim is %v", claim)
	}
	select {
	case <-p.free:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held, p.given = append(p.held, path), p.given+1
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		i := slices.Index(p.held, path)
		p.held = slices.Delete(p.held, i, i+1)
		p.free <- struct{}{}
	}, nil
}

// TestClaim: an attempt starts when its node has what it claims, and waiting for that holds no slot.
func TestClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		node := func(id dag.ID, claim any) dag.Node {
			return dag.Node{ID: id, Runner: sleeps(time.Minute), Claim: claim}
		}
		p := newPools(1)
		tells(t, t.Context(), graph(t, dag.Settings{}, node("a", "gpu"), node("b", nil), dag.Node{ID: "c", Runner: sleeps(70 * time.Second)}, node("d", nil)), dag.Options{
			Slots: dag.NewSlots(2), Acquire: func(ctx context.Context, path dag.ID, claim any) (func(), error) {
				time.Sleep(90 * time.Second) // both slots are used in the meantime
				return p.acquire(ctx, path, claim)
			}}, `
			0s run.started
			0s step.started b
			0s step.started c
			1m0s step.finished b succeeded
			1m0s step.started d
			1m10s step.finished c succeeded
			1m30s step.started a
			2m0s step.finished d succeeded
			2m30s step.finished a succeeded
			2m30s run.finished succeeded
		`)
		if p.given != 1 || len(p.held) > 0 {
			t.Errorf("%d were given, %v still hold one", p.given, p.held)
		}
	})
}

// TestClaimEachAttempt: attempts, rounds and items claim one by one, and hold nothing in between.
func TestClaimEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPools(1)
		most := 0
		works := runner(func(ctx context.Context, c *dag.Call) (dag.Result, error) {
			p.mu.Lock()
			most = max(most, len(p.held))
			p.mu.Unlock()
			time.Sleep(time.Second)
			return dag.Result{ExitCode: c.Attempt % 2}, nil
		})
		policy := dag.Policy{Attempts: 1, Backoff: dag.Backoff{Delay: time.Hour}, Repeat: &dag.Repeat{Done: untilAttempt(4), Backoff: dag.Backoff{Delay: time.Hour}}}
		item := dag.Node{Runner: works, Claim: "gpu", Policy: policy}
		loop := dag.Node{ID: "loop", Each: &dag.Each{Items: count(3), Item: item}}
		s, err := dag.Run(t.Context(), graph(t, dag.Settings{}, loop), nil, dag.Options{Acquire: p.acquire})
		if err != nil || s.Result().Status != dag.Succeeded {
			t.Fatal(s.Result(), err)
		}
		if p.given != 12 || most != 1 || len(p.held) > 0 {
			t.Errorf("%d were given, want 12; %d at the same time, want 1; %v still hold one", p.given, most, p.held)
		}
	})
}

// TestClaimCancelled: a node that waits for its claim ends with a cancel; one that runs after a cancel
// claims again; and one that never starts gives back what it has.
func TestClaimCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPools(1)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		started := time.Now()
		s, err := dag.Run(ctx, graph(t, dag.Settings{},
			dag.Node{ID: "holds", Runner: sleeps(time.Hour), Claim: "gpu"},
			dag.Node{ID: "waits", Runner: sleeps(0), Claim: "gpu", After: []dag.ID{"first"}},
			dag.Node{ID: "first", Runner: sleeps(time.Second)},
			dag.Node{ID: "cleans", Runner: sleeps(time.Second), Claim: "gpu", After: []dag.ID{"first"}, When: always},
			dag.Node{ID: "after", Runner: sleeps(time.Second), Claim: "gpu", After: []dag.ID{"waits"}, When: always}), nil, dag.Options{Acquire: p.acquire})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		s.All(func(path dag.ID, _ *dag.Node, st dag.Status, _ *dag.Result) {
			got = append(got, fmt.Sprint(path, " ", st))
		})
		want := []string{"holds cancelled", "waits cancelled", "first succeeded", "cleans succeeded", "after succeeded"}
		if !slices.Equal(got, want) || time.Since(started) != 32*time.Second {
			t.Errorf("after %v: %v", time.Since(started), got)
		}
		if len(p.held) > 0 {
			t.Errorf("%v still hold one", p.held)
		}
	})
}

// TestClaimForced: after a forced stop nothing waits any more.
func TestClaimForced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPools(0)
		force := make(chan struct{})
		time.AfterFunc(time.Minute, func() { close(force) })
		s, err := dag.Run(t.Context(), graph(t, dag.Settings{}, dag.Node{ID: "cleans", Runner: sleeps(0), Claim: "gpu", When: always}), nil, dag.Options{Acquire: p.acquire, Force: force})
		if err != nil || s.Result().Status != dag.Cancelled {
			t.Fatal(s.Result(), err)
		}
	})
}

// TestClaimReleased: a run that is released gives back what its nodes have claimed.
func TestClaimReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPools(2)
		release := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(release) })
		works := dag.Node{ID: "works", Runner: sleeps(time.Minute)}
		_, err := dag.Run(t.Context(), graph(t, dag.Settings{}, works, dag.Node{ID: "next", Runner: sleeps(0), Claim: "gpu"}), nil,
			dag.Options{Acquire: p.acquire, Release: release, Slots: dag.NewSlots(1)})
		if !errors.Is(err, dag.ErrReleased) || p.given != 1 || len(p.held) > 0 {
			t.Errorf("%v; %d were given, %v still hold one", err, p.given, p.held)
		}
	})
}

// TestClaimError: a claim that cannot be asked for stops the run.
func TestClaimError(t *testing.T) {
	p := newPools(1)
	_, err := dag.Run(t.Context(), graph(t, dag.Settings{}, dag.Node{ID: "a", Runner: sleeps(0), Claim: "tpu"}), nil, dag.Options{Acquire: p.acquire})
	if err == nil || err.Error() != "cannot continue: step a: the claim is tpu" {
		t.Error(err)
	}
}
