package jsrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// A thousand calls need one process.
func TestReuse(t *testing.T) {
	r := New(Config{})
	defer r.Close()
	s := compile(t, Body, "return input.n + 1", "input")
	for n := range 1000 {
		raw, err := r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": map[string]any{"n": n}}})
		if err != nil || string(raw) != strconv.Itoa(n+1) {
			t.Fatalf("%s, %v", raw, err)
		}
	}
	if r.pool.started != 1 {
		t.Errorf("%d processes were started", r.pool.started)
	}
}

// Many concurrent calls share few children.
func TestMany(t *testing.T) {
	r := New(Config{})
	defer r.Close()
	s := compile(t, Body, "for (let i = 0; i < 1e4; i++); return input", "input")
	var calls sync.WaitGroup
	for n := range 100 {
		calls.Go(func() {
			raw, err := r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": n}})
			if err != nil || string(raw) != strconv.Itoa(n) {
				t.Errorf("%s, %v", raw, err)
			}
		})
	}
	calls.Wait()
	if most := cap(r.pool.slots); r.pool.started > most {
		t.Errorf("%d processes were started, %d may run", r.pool.started, most)
	}
}

// A call that waits for another call holds no slot that the other one needs, however many there
// are.
func TestNested(t *testing.T) {
	r := New(Config{})
	defer r.Close()
	s := compile(t, Step, "return 1 + (input > 0 ? await Promise.resolve(require('nested').call(input - 1)) : 0)", "input")
	var call func(ctx context.Context, n int) (any, error)
	call = func(ctx context.Context, n int) (any, error) {
		raw, err := r.Call(ctx, Call{Script: s, Vars: map[string]any{"input": n}, Ask: func(ctx context.Context, op string, args json.RawMessage) (any, error) {
			var n int
			if err := json.Unmarshal(args, &n); err != nil {
				return nil, err
			}
			return call(ctx, n)
		}})
		if err != nil {
			return nil, err
		}
		return json.RawMessage(raw), nil
	}
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() {
			if v, err := call(context.Background(), 6); err != nil || string(v.(json.RawMessage)) != "7" {
				t.Errorf("%s, %v", v, err)
			}
		})
	}
	calls.Wait()
	r.pool.mu.Lock()
	defer r.pool.mu.Unlock()
	if len(r.pool.idle) > cap(r.pool.slots) {
		t.Errorf("%d children are kept", len(r.pool.idle))
	}
}

// A cancelled call ends at once, with the cause, and the next one works.
func TestCancel(t *testing.T) {
	why := errors.New("the user is tired of it")
	endless, short := compile(t, Body, "for (;;) {} return 1"), compile(t, Body, "return 1")
	for way, r := range map[string]*Runtime{"here": New(Config{InProcess: true, Timeout: time.Hour}), "child": New(Config{Timeout: time.Hour})} {
		t.Run(way, func(t *testing.T) {
			defer r.Close()
			for _, after := range []time.Duration{0, time.Millisecond, 50 * time.Millisecond} {
				ctx, cancel := context.WithCancelCause(context.Background())
				time.AfterFunc(after, func() { cancel(why) })
				if _, err := r.Call(ctx, Call{Script: endless}); !errors.Is(err, why) {
					t.Error(err)
				}
				if raw, err := r.Call(context.Background(), Call{Script: short}); err != nil || string(raw) != "1" {
					t.Errorf("%s, %v", raw, err)
				}
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			cancel(why)
			if _, err := r.Call(ctx, Call{Script: short}); !errors.Is(err, why) {
				t.Error(err)
			}
		})
	}
}

// A call's own limit applies in addition to the Runtime's, and to its host calls too.
func TestCallTimeout(t *testing.T) {
	for way, r := range map[string]*Runtime{"here": New(Config{InProcess: true, Timeout: time.Hour}), "child": New(Config{Timeout: time.Hour})} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			defer r.Close()
			for _, c := range []Call{
				{Script: compile(t, Body, "for (;;) {} return 1")},
				{Script: compile(t, Step, "await new Promise(r => setTimeout(r, 1e8))")},
				{Script: compile(t, Step, "await require('nested').call()"), Ask: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}},
			} {
				c.Timeout = 50 * time.Millisecond
				var e *Error
				if raw, err := r.Call(context.Background(), c); !errors.As(err, &e) || e.Kind != KindTimeout || e.Pos.Line < 10 && e.Pos.Line != 0 {
					t.Errorf("%s, %v", raw, err)
				}
			}
		})
	}
}

// The time that a script waits for a host call does not count as its own. On a busy machine the limit may
// be over before the script waits; then it gets more time.
func TestWaitingIsFree(t *testing.T) {
	t.Parallel()
	var cases sync.WaitGroup
	for _, here := range []bool{true, false} {
		for _, code := range []string{"return await require('nested').call()", "return require('nested').callNow()"} {
			s := compile(t, Step, code)
			cases.Go(func() {
				var raw json.RawMessage
				var err error
				for limit := 200 * time.Millisecond; limit < waittest.Limit; limit *= 4 {
					r := New(Config{InProcess: here, Timeout: limit})
					raw, err = r.Call(context.Background(), Call{Script: s, Ask: func(context.Context, string, json.RawMessage) (any, error) {
						time.Sleep(limit + 3*jsworld.Grace)
						return "done", nil
					}})
					r.Close()
					if err == nil && string(raw) == `"done"` {
						return
					}
				}
				t.Errorf("in process %v, %s: %s, %v", here, code, raw, err)
			})
		}
	}
	cases.Wait()
}

// Host calls return a value, or throw an Error with a name.
func TestAsk(t *testing.T) {
	ask := func(_ context.Context, op string, args json.RawMessage) (any, error) {
		switch string(args) {
		case `"named"`:
			return nil, fmt.Errorf("somewhere: %w", &Error{Name: "PermissionDenied", Message: "not granted"})
		case `"plain"`:
			return nil, errors.New("it is broken")
		case `"huge"`:
			return strings.Repeat("x", 17<<20), nil
		case `"nothing"`:
			return nil, nil
		}
		return map[string]any{"op": op, "args": args}, nil
	}
	for code, want := range map[string]string{
		"return n.call({a: 1})": `{"args":{"a":1},"op":"nested"}`,
		"return n.callNow([1])": `{"args":[1],"op":"nested"}`,
		"return [await n.call(1), n.callNow(2), await n.call(3)].length":                             `3`,
		"return (await Promise.all([1, 2, 3].map(n.call))).map(a => a.args)":                         `[1,2,3]`,
		"const p = n.call(1); const b = n.callNow(2); return [b.args, (await p).args]":               `[2,1]`,
		"try { await n.call('named') } catch (e) { return [e.name, e.message, e instanceof Error] }": `["PermissionDenied","not granted",true]`,
		"try { n.callNow('plain') } catch (e) { return [e.name, e.message] }":                        `["Error","it is broken"]`,
		"return (await n.call('huge')).length":                                                       `17825792`,
		"return await n.call('nothing')":                                                             `null`,
		"try { await n.call(() => 1) } catch (e) { return e.message }":                               `"nested: the argument is a function, which JSON does not support"`,
		"try { n.callNow({a: [{b() {}}]}) } catch (e) { return e.message }":                          `"nested: a[0].b is a function, which JSON does not support"`,
		"n.call(1); return 1": `1`,
		"return await Promise.race([n.call(1), new Promise(r => setTimeout(r, 1e7))]).then(a => a.args)": `1`,
	} {
		both(t, Call{Script: compile(t, Step, "const n = require('nested')\n"+code), Ask: ask}, func(t *testing.T, result string, err error) {
			if err != nil || result != want {
				t.Errorf("%s: %s, %v, want %s", code, result, err, want)
			}
		})
	}
	both(t, Call{Script: compile(t, Step, "return require('nested').call(1)")}, func(t *testing.T, result string, err error) {
		if err == nil || !strings.Contains(err.Error(), "nested is not available here") {
			t.Error(result, err)
		}
	})
}

// Host calls are completed before the call ends, even if the script does not await them.
func TestSeenThrough(t *testing.T) {
	var answered atomic.Int32
	both(t, Call{Script: compile(t, Step, "require('nested').call(1); return 1"), Ask: func(ctx context.Context, _ string, _ json.RawMessage) (any, error) {
		time.Sleep(50 * time.Millisecond)
		if ctx.Err() == nil {
			answered.Add(1)
		}
		return nil, nil
	}}, func(t *testing.T, result string, err error) {
		if err != nil || result != "1" {
			t.Error(result, err)
		}
	})
	if answered.Load() != 2 {
		t.Error("a question was given up")
	}
}

// Timers fire in order and end with the call.
func TestTimers(t *testing.T) {
	for code, want := range map[string]string{
		`const seen = []
		await new Promise(done => {
			setTimeout(() => { seen.push('c'); done() }, 30)
			setTimeout((v) => seen.push(v), 15, 'b')
			setImmediate(() => seen.push('a'))
			queueMicrotask(() => seen.push('now'))
			clearTimeout(setTimeout(() => seen.push('never'), 5))
		})
		return seen`: `["now","a","b","c"]`,
		`let n = 0; await new Promise(done => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } }, 1) }); return n`: `3`,
		`setInterval(() => {}, 1); setTimeout(() => {}, 1e9); return 1`:                                                                         `1`,
		`await new Promise(done => setTimeout(done)); return 2`:                                                                                 `2`,
	} {
		both(t, Call{Script: compile(t, Step, code)}, func(t *testing.T, result string, err error) {
			if err != nil || result != want {
				t.Errorf("%s: %s, %v, want %s", code, result, err, want)
			}
		})
	}
	both(t, Call{Script: compile(t, Step, "setTimeout(() => {\n  throw new Error('late')\n}, 1)\nawait new Promise(() => {})")}, func(t *testing.T, result string, err error) {
		var e *Error
		if !errors.As(err, &e) || e.Message != "late" || e.Pos.String() != "a.md:11:9" {
			t.Errorf("%s, %v", result, e)
		}
	})
}

// A closed Runtime runs nothing, and closing it ends running calls.
func TestClose(t *testing.T) {
	r := New(Config{})
	s := compile(t, Body, "for (;;) {} return 1")
	failed := make(chan error)
	go func() {
		_, err := r.Call(context.Background(), Call{Script: s})
		failed <- err
	}()
	waittest.Until(t, "running script", r.pool.busy)
	r.Close()
	if err := <-failed; !errors.Is(err, errClosed) {
		t.Error(err)
	}
	if _, err := r.Call(context.Background(), Call{Script: s}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
	r.Close()
}

// A child that has ended between two calls is replaced without an error.
func TestDeadChild(t *testing.T) {
	r := New(Config{})
	defer r.Close()
	s := compile(t, Body, "return 1")
	for n := range 3 {
		if raw, err := r.Call(context.Background(), Call{Script: s}); err != nil || string(raw) != "1" {
			t.Fatalf("call %d: %s, %v", n, raw, err)
		}
		for _, k := range r.pool.idle {
			k.kill()
			<-k.done
		}
	}
}

// A program that does not call Main gets an error that says what to do.
func TestNoHelper(t *testing.T) {
	s := compile(t, Body, "return 1")
	r := New(Config{})
	defer r.Close()
	r.pool.restartable = func() bool { return false }
	if _, err := r.Call(context.Background(), Call{Script: s}); !errors.Is(err, ErrNoHelper) || !strings.Contains(err.Error(), "flowrun.HelperMain") {
		t.Error(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	named := New(Config{Helper: self})
	defer named.Close()
	if raw, err := named.Call(context.Background(), Call{Script: s}); err != nil || string(raw) != "1" {
		t.Errorf("%s, %v", raw, err)
	}
	missing := New(Config{Helper: "/no/such/program"})
	defer missing.Close()
	if _, err := missing.Call(context.Background(), Call{Script: s}); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Error(err)
	}
}

// Values of many megabytes can be passed; larger ones give an error.
func TestLarge(t *testing.T) {
	s := compile(t, Body, "return input.length", "input")
	both(t, Call{Script: s, Vars: map[string]any{"input": strings.Repeat("ä", 10<<20)}}, func(t *testing.T, result string, err error) {
		if err != nil || result != strconv.Itoa(10<<20) {
			t.Error(result, err)
		}
	})
	r := New(Config{})
	defer r.Close()
	if _, err := r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": strings.Repeat("x", jsworld.MaxFrame)}}); err == nil || !strings.Contains(err.Error(), "the limit is 64 MiB") {
		t.Error(err)
	}
	if raw, err := r.Call(context.Background(), Call{Script: s, Vars: map[string]any{"input": "x"}}); err != nil || string(raw) != "1" {
		t.Error(string(raw), err)
	}
}

// A child that stores too many programs is replaced.
func TestManyPrograms(t *testing.T) {
	r := New(Config{})
	defer r.Close()
	for n := range 2*maxPrograms + 2 {
		raw, err := r.Call(context.Background(), Call{Script: compile(t, Body, fmt.Sprintf("return %d", n))})
		if err != nil || string(raw) != strconv.Itoa(n) {
			t.Fatalf("%s, %v", raw, err)
		}
	}
	if r.pool.started != 3 {
		t.Errorf("%d processes were started", r.pool.started)
	}
}

// busy reports whether a call is running.
func (p *pool) busy() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all) > len(p.idle)
}
