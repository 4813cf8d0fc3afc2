package jsrun

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// stop calls a tool that logs "begun" and is stopped then, and returns what it logged after that. On a
// busy machine the time limit may be over before the tool has begun; then it gets more time.
func stop(t *testing.T, s *Script, config Config, cancelled bool) (said []string, err error) {
	t.Helper()
	for ; ; config.Timeout *= 4 {
		r := New(config)
		ctx, cancel := context.WithCancel(context.Background())
		var mu sync.Mutex
		var all []string
		_, err = r.Call(ctx, Call{Script: s, Entry: "execute", Ask: func(ctx context.Context, op string, args json.RawMessage) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			if op == "log" || op == "cleanupFailed" {
				all = append(all, strings.ReplaceAll(string(args), `\"`, `"`))
			}
			if cancelled && strings.Contains(string(args), "begun") {
				cancel()
			}
			return nil, ctx.Err()
		}})
		cancel()
		r.Close()
		if len(all) > 0 && strings.Contains(all[0], "begun") {
			return all[1:], err
		}
		if config.Timeout > patience {
			t.Fatalf("it did not begin within %v: %q, %v", config.Timeout, all, err)
		}
	}
}

// A tool that is stopped cleans up whole, with the data that it had, however it was stopped.
func TestStoppedToolCleansUp(t *testing.T) {
	t.Parallel()
	const (
		waits  = "await this.api.environment.get('a'); for (;;) {}"
		stuck  = "/^(?=(a+)+$)(a+)+$/.test('a'.repeat(40) + '!'); return 1" // one operation, which cannot be interrupted
		memory = "const a = []; for (;;) a.push('x'.repeat(1 << 20) + a.length)"
	)
	for name, c := range map[string]struct {
		execute string
		cancel  bool
		want    string
		child   bool // only in a child
	}{
		"the time limit":              {"for (;;) {}", false, `lease 7 {"deep":[1]} undefined done`, false},
		"inside an async function":    {waits, false, `lease 7 {"deep":[1]} undefined done`, false},
		"after an await":              {"await null; " + waits, false, `lease 7 {"deep":[1]} undefined done`, false},
		"cancel":                      {"await new Promise(r => setTimeout(r, 60_000))", true, `lease 7 {"deep":[1]} undefined done`, false},
		"cancel of a loop":            {"for (;;) {}", true, `lease 7 {"deep":[1]} undefined done`, false},
		"a killed child has no state": {stuck, false, "lease undefined undefined undefined done", true},
		"so has one without memory":   {memory, false, "lease undefined undefined undefined done", true},
	} {
		s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte(`module.exports = {
  async init() { this.lease = 7; this.more = {deep: [1]}; this.open = () => 1; await this.api.storage.setItem('a', 1) },
  async execute() { console.log('begun'); ` + c.execute + ` },
  async cleanup() {
    await this.api.storage.getItem('a'); await new Promise(r => setTimeout(r, 10))
    console.log('lease ' + this.lease + ' ' + JSON.stringify(this.more) + ' ' + this.open + ' done')
  } }`)})
		for way, config := range map[string]Config{"here": {InProcess: true}, "child": {}} {
			if c.child && config.InProcess {
				continue
			}
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				config.Timeout, config.Memory = 200*time.Millisecond, 64<<20
				if c.cancel || c.execute == memory { // they end for another reason than the time
					config.Timeout = patience
				}
				said, err := stop(t, s, config, c.cancel)
				var e *Error
				switch {
				case c.cancel && !errors.Is(err, context.Canceled),
					!c.cancel && (!errors.As(err, &e) || (e.Kind == KindTimeout) == (c.execute == memory)),
					config.InProcess && !c.cancel && e.Pos.Line != 3:
					t.Errorf("the call returned %v %+v", err, e)
				}
				if len(said) != 1 || !strings.Contains(said[0], c.want) {
					t.Errorf("it said %s, want %s", said, c.want)
				}
			})
		}
	}
}

// A cleanup that does not end, or that fails, changes nothing about the failure of the call.
func TestCleanupOfStoppedToolFails(t *testing.T) {
	t.Parallel()
	for cleanup, want := range map[string]string{
		"for (;;) {}":                 "cleanup failed: the script ran longer than 1.5s",
		"throw new Error('stuck')":    "cleanup threw Error: stuck",
		"await new Promise(() => {})": "cleanup threw Error: it did not end within 1 s",
		"await this.api.storage.getItem('a'); this.lease.end()": "cleanup threw TypeError: this.lease.end is not a function",
	} {
		t.Run(cleanup, func(t *testing.T) {
			t.Parallel()
			s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte("module.exports = { lease: 1, execute() { console.log('begun'); for (;;) {} }, async cleanup() { " + cleanup + " } }")})
			said, err := stop(t, s, Config{Timeout: 200 * time.Millisecond}, false)
			var e *Error
			if !errors.As(err, &e) || e.Kind != KindTimeout {
				t.Errorf("%s: %v", cleanup, err)
			}
			if len(said) != 1 || !strings.Contains(said[0], want) {
				t.Errorf("%s: said %q, want %s", cleanup, said, want)
			}
		})
	}
}
