package jsrun

import (
	"context"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// A call that exceeds the memory limit just before it ends either fails or has a result. The child
// of a call with a result stays usable. The long form makes enough calls to see it if not.
func TestMemoryLimitAtTheEndOfACall(t *testing.T) {
	r := New(Config{Timeout: time.Minute})
	defer r.Close()
	large := compile(t, Body, `const a = []; for (let i = 0; i < input.n; i++) a.push('x'.repeat(1 << 20) + i); return 1`, "input")
	check := compile(t, Body, clean)
	results, failures, calls := 0, 0, sizetest.Of(2, 16, 400)
	for i := range calls {
		size := map[string]any{"n": 80 + (2*i+1)*40/calls}
		_, err := r.Call(context.Background(), Call{Script: large, Vars: map[string]any{"input": size}})
		if err != nil {
			failures++
			continue
		}
		results++
		if raw, err := r.Call(context.Background(), Call{Script: check}); err != nil || string(raw) != wantClean {
			t.Errorf("the call after number %d: %s, %v", i, raw, err)
		}
	}
	t.Logf("%d results, %d failures", results, failures)
}
