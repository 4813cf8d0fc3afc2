package engine_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestLoopScale runs a loop over very many Go steps: what the engine keeps of an item
// is small.
func TestLoopScale(t *testing.T) {
	many := sizetest.Of(2000, 2000, 100_000)
	b := newBed(t)
	var ran, peak atomic.Int64
	step := gostep.GoStep("t", func(_ context.Context, in *gostep.StepInput) (any, error) {
		if n := ran.Add(1); n%int64(many/4) == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), int64(m.HeapAlloc)))
		}
		if in.Item.(int64)%1000 == 0 {
			return nil, fmt.Errorf("item %d fails", in.Item)
		}
		return nil, nil
	})
	step.Loop = &tool.Loop{Items: &tool.Value{Text: &tool.Text{S: fmt.Sprintf("1..%d", many)}}, MinSuccess: 1}
	b.define(&tool.Definition{Name: "many", Description: "d", Steps: []*tool.Step{step}})
	p, err := engine.Compile(b.lib, "many")
	if err != nil {
		t.Fatal(err)
	}
	var before runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	res, err := engine.New(b.config).Run(context.Background(), p, nil)
	if err != nil || res.Status != dag.Succeeded || int(ran.Load()) != many {
		t.Fatalf("%v %s %s, %d ran", err, res.Status, res.Message, ran.Load())
	}
	each := float64(peak.Load()-int64(before.HeapAlloc)) / float64(many)
	t.Logf("%d items, %.0f bytes each", many, each)
	if each > 1500 && many > 2000 { // of few items the engine itself is most
		t.Errorf("an item takes %.0f bytes, want at most 1500", each)
	}
	if len(res.Steps) != many+1 || len(res.Message) > 1000 {
		t.Errorf("%d steps, message %.100s", len(res.Steps), res.Message)
	}
}
