package web_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// FuzzRequest sends arbitrary requests to the server, with the token: nothing panics, fails
// internally or hangs, and every error has the documented form.
func FuzzRequest(f *testing.F) {
	b := newBench(f, web.Options{Schedules: &office{}, Webhooks: hooks()})
	run := b.start(`{"tool": "hello"}`)
	b.becomes(run, dag.Succeeded)
	for path, methods := range b.operations() {
		for method := range methods {
			path := strings.NewReplacer("{id}", run, "{name}", "hello").Replace(path)
			f.Add(strings.ToUpper(method), path, "", "", `{"tool": "hello"}`)
		}
	}
	f.Add("POST", "/api/v1/runs", "Idempotency-Key: k", "", `{"tool": "hello", "params": {"N": 1e999999999, "WHO": "\ud800"}}`)
	f.Add("POST", "/api/v1/runs", "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "", `{"tool": "hello", "params": {"N": [[[]]], "X": {"a": null}}}`)
	f.Add("GET", "/api/v1/events", "Last-Event-ID: 18446744073709551615", "after=-1&run=x", "")
	f.Add("GET", "/api/v1/runs/"+run+"/logs", "", "step=hello&stream=stdout&follow=1", "")
	f.Add("OPTIONS", "*", "Host: [::1", "", "")
	f.Add("CONNECT", "localhost:80", "Transfer-Encoding: chunked", "", "zz")
	f.Add("POST", "/hooks/push", "X-Hub-Signature-256: sha256=00", "", "{}")
	f.Fuzz(func(t *testing.T, method, path, header, query, body string) {
		if query != "" {
			path += "?" + query
		}
		text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n\r\n%s", method, path, token, len(body), header, body)
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(text)))
		if err != nil {
			t.Skip("no request")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond) // streams go on as long as the client listens
		defer cancel()
		w, done := httptest.NewRecorder(), make(chan struct{})
		go func() {
			defer close(done)
			b.handler.ServeHTTP(w, r.WithContext(ctx))
		}()
		select {
		case <-done:
		case <-time.After(waittest.Limit):
			t.Fatalf("%q hangs", text)
		}
		if w.Code >= 500 {
			t.Errorf("%q: %d %s\n%s", text, w.Code, w.Body, b.logged())
		}
		if w.Code >= 300 {
			if p := problemIn(t, w.Body.Bytes()); p.Code == "" || p.Message == "" {
				t.Errorf("%q: %d %s", text, w.Code, w.Body)
			}
		}
		if strings.Contains(w.Body.String(), b.dir) && !strings.Contains(text, b.dir) {
			t.Errorf("%q reports the machine: %s", text, w.Body)
		}
	})
}

// FuzzDecode compares decode with encoding/json: what decode accepts has the same meaning
// there.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"a": [1, 2.50, "x", null, true]}`, `{"a": 1, "a": 2}`, "[[", `"\ud800"`, "1e400", "{} {}", "nul", `{"a" 1}`, `[1 2]`, `[1,]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := web.Decode(b)
		again, errAgain := web.Plain(b)
		if err == nil && (errAgain != nil || fmt.Sprint(v) != fmt.Sprint(again)) {
			t.Errorf("%q is %v, for the library %v, %v", b, v, again, errAgain)
		}
	})
}
