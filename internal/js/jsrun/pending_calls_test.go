package jsrun

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// A script cannot make the program work on an unlimited number of host calls at once.
func TestManyQuestions(t *testing.T) {
	r := New(Config{Timeout: time.Minute}) // the race detector is slow with a thousand calls
	defer r.Close()
	s := compile(t, Step, `
		const all = Array.from({ length: 1200 }, () => fetch('http://a.example/'));
		for (const one of all) one.catch(() => console.log('refused'));
		const bad = (await Promise.allSettled(all)).filter(a => a.status === 'rejected');
		return [bad.length, bad[0].reason.message];`)
	var now, most atomic.Int64
	refused := make(chan struct{})
	tell := sync.OnceFunc(func() { close(refused) })
	raw, err := r.Call(context.Background(), Call{Script: s, Ask: func(ctx context.Context, op string, _ json.RawMessage) (any, error) {
		if op == "log" {
			tell()
			return nil, nil
		}
		defer now.Add(-1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		select {
		case <-refused:
		case <-ctx.Done():
		}
		return map[string]any{"status": 200, "headers": []any{}, "text": ""}, nil
	}})
	var got [2]any
	if err != nil || json.Unmarshal(raw, &got) != nil || most.Load() > maxPendingCalls {
		t.Fatalf("%s, %v; %d at once", raw, err, most.Load())
	}
	const want = "too many pending calls: more than 1000, or more than 64 MiB; await some of them first"
	if n := got[0].(float64); n < 1 || n > 200 || got[1] != want {
		t.Errorf("%v", got)
	}
}

func TestOpenQuestions(t *testing.T) {
	var o pendingCalls
	if !o.add(jsworld.MaxFrame) || o.add(1) || !o.add(0) {
		t.Error("the bound on bytes is not kept")
	}
	o.remove(jsworld.MaxFrame)
	if !o.add(1) {
		t.Error("what was answered counts still")
	}
}
