package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// raw is a client that writes lines and reads messages.
type raw struct {
	t    testing.TB
	in   io.WriteCloser
	got  chan map[string]any
	done chan error
}

const (
	hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`
	ready = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// dial starts a session.
func dial(t testing.TB, s *served) *raw {
	here, there := pipes()
	r := &raw{t: t, in: here.out, got: make(chan map[string]any, 5000), done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		r.done <- s.Serve(ctx, there.in, there.out)
		there.out.Close()
	}()
	go func() {
		defer close(r.got)
		lines := bufio.NewReader(here.in)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var m map[string]any
			if json.Unmarshal(line, &m) != nil {
				m = map[string]any{"not JSON": string(line)}
			}
			r.got <- m
		}
	}()
	t.Cleanup(func() {
		cancel()
		here.out.Close()
		for range r.got {
		}
	})
	return r
}

// open starts a session and initializes it.
func open(t testing.TB, s *served) *raw {
	r := dial(t, s)
	r.send(hello)
	r.answer("hello")
	r.send(ready)
	return r
}

func (r *raw) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatalf("cannot write: %v", err)
	}
}

// answer returns the message with an id. It fails if there is none soon.
func (r *raw) answer(id any) map[string]any {
	r.t.Helper()
	return r.read(id, func(map[string]any) {})
}

// until returns the messages before the one with an id.
func (r *raw) until(id any) (before []map[string]any) {
	r.t.Helper()
	r.read(id, func(m map[string]any) { before = append(before, m) })
	return before
}

// read returns the message with an id, and calls other with those before it.
func (r *raw) read(id any, other func(map[string]any)) map[string]any {
	r.t.Helper()
	late := time.After(waittest.Limit)
	for {
		select {
		case m, more := <-r.got:
			if !more {
				r.t.Fatalf("the session has ended before the answer to %v", id)
			}
			if m["not JSON"] != nil {
				r.t.Fatalf("the server wrote %q", m["not JSON"])
			}
			if m["id"] == id && m["method"] == nil {
				return m
			}
			other(m)
		case <-late:
			r.t.Fatalf("no answer to %v", id)
		}
	}
}

// alive checks that the session still works.
func (r *raw) alive() {
	r.t.Helper()
	r.send(`{"jsonrpc":"2.0","id":"alive","method":"ping"}`)
	if m := r.answer("alive"); m["result"] == nil {
		r.t.Errorf("after the message: %v", m)
	}
}

// TestHostileLines sends what no client should send. Every line gets an answer, or none, and the
// session continues.
func TestHostileLines(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	call := func(id, params string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":` + params + `}`
	}
	s := serve(t, nil)
	for name, line := range map[string]string{
		"empty":                      "",
		"spaces":                     "   \t",
		"text":                       "GET / HTTP/1.1",
		"a number":                   "42",
		"null":                       "null",
		"a string":                   `"hello"`,
		"an empty object":            "{}",
		"an empty batch":             "[]",
		"a batch of nonsense":        `[1, "x", null, {}, []]`,
		"half an object":             `{"jsonrpc":"2.0","id":1,"meth`,
		"two objects":                `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`,
		"version 1":                  `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		"no version":                 `{"id":1,"method":"ping"}`,
		"null id":                    `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		"an object as id":            `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`,
		"a fraction as id":           `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		"a huge id":                  `{"jsonrpc":"2.0","id":1e400,"method":"ping"}`,
		"a number as method":         `{"jsonrpc":"2.0","id":1,"method":7}`,
		"an empty method":            `{"jsonrpc":"2.0","id":1,"method":""}`,
		"an unknown method":          `{"jsonrpc":"2.0","id":1,"method":"system/exit"}`,
		"an unknown notification":    `{"jsonrpc":"2.0","method":"notifications/nope"}`,
		"text as params":             `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":"greet"}`,
		"a list as params":           `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1,2]}`,
		"no params":                  `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`,
		"no name":                    call("1", `{}`),
		"a number as name":           call("1", `{"name":5}`),
		"a path as name":             call("1", `{"name":"../../etc/passwd"}`),
		"a list as arguments":        call("1", `{"name":"greet","arguments":["Ada"]}`),
		"a number as arguments":      call("1", `{"name":"greet","arguments":5}`),
		"deep arguments":             call("1", `{"name":"greet","arguments":{"NAME":`+deep+`}}`),
		"large arguments":            call("1", `{"name":"greet","arguments":{"NAME":"`+strings.Repeat("x", 2<<20)+`"}}`),
		"a larger message":           call("1", `{"name":"greet","arguments":{"NAME":"`+strings.Repeat("x", 5<<20)+`"}}`),
		"invalid UTF-8":              call("1", "{\"name\":\"greet\",\"arguments\":{\"NAME\":\"\xff\xfe\"}}"),
		"a NUL character":            call("1", `{"name":"greet","arguments":{"NAME":"a\u0000b"}}`),
		"half a surrogate pair":      call("1", `{"name":"greet","arguments":{"NAME":"\ud800"}}`),
		"a name twice":               call("1", `{"name":"greet","arguments":{"NAME":"a","NAME":"b"}}`),
		"a wrong cursor":             `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"nonsense"}}`,
		"a wrong level":              `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"loud"}}`,
		"a wrong resource":           `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`,
		"an answer to nothing":       `{"jsonrpc":"2.0","id":99,"result":{}}`,
		"an error to nothing":        `{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"x"}}`,
		"cancelling nothing":         `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12345}}`,
		"cancelling without an id":   `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}`,
		"progress of nothing":        `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}`,
		"an object as token":         call("1", `{"name":"steps","_meta":{"progressToken":{"a":1}}}`),
		"initialize again":           `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		"initialized again":          ready,
		"an unknown protocol":        `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		"an answer nobody asked for": call("1", `{"name":"ask","inputResponses":{"approval":{"action":"accept","content":{"decision":"approve"}}},"requestState":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := open(t, s)
			r.send(line)
			r.alive()
		})
	}
}

// TestHostileSessions checks sessions that do not follow the protocol.
func TestHostileSessions(t *testing.T) {
	s := serve(t, nil)
	t.Run("not initialized", func(t *testing.T) {
		r := dial(t, s)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"NAME":"Ada"}}}`)
		if m := r.answer(1.0); m["error"] == nil {
			t.Errorf("a tool is called before initialize: %v", m)
		}
	})
	t.Run("closed at once", func(t *testing.T) {
		r := dial(t, s)
		r.in.Close()
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
	t.Run("half closed", func(t *testing.T) {
		r := open(t, s)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps"}}`)
		r.in.Close()
		if m := r.answer(1.0); m["result"] == nil {
			t.Errorf("the call was not answered: %v", m)
		}
		if err := <-r.done; err != nil {
			t.Error(err)
		}
	})
	t.Run("no end of line", func(t *testing.T) {
		r := open(t, s)
		io.WriteString(r.in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
		r.in.Close()
		r.answer(1.0)
	})
	t.Run("the same id twice", func(t *testing.T) {
		r := open(t, s)
		s.write(t, "pause", `{name: pause, description: Pauses, tags: [free], bash: 'sleep 0.3'}`)
		s.Refresh()
		for range 2 {
			r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pause"}}`)
		}
		if m := r.answer(nil); m["error"] == nil {
			t.Errorf("the second request is accepted: %v", m)
		}
		if m := r.answer(1.0); m["result"] == nil {
			t.Errorf("the first request: %v", m)
		}
	})
	t.Run("flood", func(t *testing.T) {
		r := open(t, s)
		calls := sizetest.Of(200, 1000, 1000) // more than the server queues
		var writing sync.WaitGroup
		writing.Go(func() {
			for i := range calls {
				io.WriteString(r.in, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"greet","arguments":{"NAME":"n%d"}}}`+"\n", i, i))
			}
		})
		answered := map[float64]bool{}
		for len(answered) < calls {
			m, more := <-r.got
			if !more {
				t.Fatal("the session has ended")
			}
			id, ok := m["id"].(float64)
			if !ok {
				continue
			}
			if text, _ := json.Marshal(m); answered[id] || !strings.Contains(string(text), fmt.Sprintf("Hello n%d 1", int(id))) {
				t.Fatalf("answer %v: %s", id, text)
			}
			answered[id] = true
		}
		writing.Wait()
		r.alive()
	})
}
