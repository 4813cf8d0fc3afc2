package telemetry_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/telemetry"
	"github.com/flowrun/flowrun/internal/test/collectortest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// warnings are what a Tracer warns of.
type warnings struct {
	mu     sync.Mutex
	list   []string
	warned []func()
}

func (w *warnings) add(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, err.Error())
	for _, f := range w.warned {
		f()
	}
}

// one checks that there was exactly one warning, which contains want.
func (w *warnings) one(t *testing.T, want string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) != 1 || !strings.Contains(w.list[0], want) || strings.Contains(w.list[0], "hidden") {
		t.Errorf("the warnings are %q, want one with %q", w.list, want)
	}
}

// told sends a run of n steps to the collector at url, and ends after at most wait. warned
// is called for each warning.
func told(t *testing.T, url string, n int, wait time.Duration, warned ...func()) *warnings {
	t.Helper()
	set(t, "EXPORTER_OTLP_TRACES_ENDPOINT="+url)
	s, err := telemetry.Read()
	if err != nil {
		t.Fatal(err)
	}
	w := &warnings{warned: warned}
	tr := telemetry.New(s, telemetry.Options{Warn: w.add})
	sink, _ := tr.Observe(history.ObservedRun{ID: "run", Tool: "job"})
	list := []dag.Event{{Kind: dag.RunStarted}}
	for i := range n {
		list = append(list, done(dag.ID(fmt.Sprintf("test[%d]", i)), 1, dag.Succeeded))
	}
	for _, e := range events(append(list, dag.Event{Kind: dag.RunFinished, Result: &dag.Result{Status: dag.Succeeded}})...) {
		sink.Emit(e)
	}
	ctx, stop := context.WithTimeout(context.Background(), wait)
	defer stop()
	tr.Close(ctx)
	return w
}

// collector returns a collector that responds with answer.
func collector(t *testing.T, answer func(n int, w http.ResponseWriter, r *http.Request) bool) *collectortest.Collector {
	c := collectortest.New()
	c.Answer = answer
	t.Cleanup(c.Close)
	return c
}

// TestManySpans checks that more spans arrive than fit into a request.
func TestManySpans(t *testing.T) {
	c := collector(t, nil)
	w := told(t, c.URL+"/v1/traces", 3000, waittest.Limit)
	if n := len(c.Spans()); n != 3001 || c.Requests() < 5 || len(w.list) > 0 {
		t.Errorf("%d spans in %d requests, warnings %q", n, c.Requests(), w.list)
	}
}

// TestNobodyListens checks that a missing collector costs only a warning.
func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://me:hidden@" + l.Addr().String() + "/v1/traces?token=hidden"
	l.Close()
	told(t, url, 1000, waittest.Limit).one(t, "cannot send spans to http://"+l.Addr().String()+"/v1/traces: ")
}

// TestSilence checks that a collector that never responds is given up when the time is
// over.
func TestSilence(t *testing.T) {
	over := make(chan struct{})
	c := collector(t, func(_ int, _ http.ResponseWriter, r *http.Request) bool {
		select {
		case <-over:
		case <-r.Context().Done():
		}
		return true
	})
	defer close(over)
	told(t, c.URL+"/v1/traces", 1000, 100*time.Millisecond).one(t, "no response in time")
}

// TestRefusals checks that temporary errors are retried, and others are not.
func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		code     int
		requests int
		warning  string
	}{
		{http.StatusServiceUnavailable, 2, ""},
		{http.StatusTooManyRequests, 2, ""},
		{http.StatusInternalServerError, 1, "it answered 500 Internal Server Error"},
		{http.StatusUnauthorized, 1, "it answered 401 Unauthorized"},
		{http.StatusTemporaryRedirect, 1, "it answered 307 Temporary Redirect"},
	} {
		t.Run(http.StatusText(x.code), func(t *testing.T) {
			c := collector(t, func(n int, w http.ResponseWriter, _ *http.Request) bool {
				if n == 1 {
					w.Header().Set("Location", "/elsewhere")
					http.Error(w, "hidden", x.code)
				}
				return n == 1
			})
			w := told(t, c.URL+"/v1/traces", 3, waittest.Limit)
			if x.warning != "" {
				w.one(t, x.warning)
			} else if len(w.list) > 0 || len(c.Spans()) != 4 {
				t.Errorf("%d spans, warnings %q", len(c.Spans()), w.list)
			}
			if c.Requests() != x.requests {
				t.Errorf("%d requests, want %d", c.Requests(), x.requests)
			}
		})
	}
}

// TestPartialSuccess checks that spans rejected by the collector are reported.
func TestPartialSuccess(t *testing.T) {
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3)
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too many")
	for body, warning := range map[string]string{
		string(protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)): "rejected 3 spans",
		"":             "",
		"{}":           "",
		"\x0a\xff":     "",
		"\x0a\x00":     "",
		"\x0a\x01\x08": "",
	} {
		c := collector(t, func(_ int, w http.ResponseWriter, _ *http.Request) bool { w.Write([]byte(body)); return true })
		w := told(t, c.URL+"/v1/traces", 3, waittest.Limit)
		if warning != "" {
			w.one(t, warning)
		} else if len(w.list) > 0 {
			t.Errorf("answer %q: warnings %q", body, w.list)
		}
	}
}

// TestQueueIsBounded checks that spans are dropped if the collector is too slow, with one
// warning, and that adding spans never blocks.
func TestQueueIsBounded(t *testing.T) {
	release := make(chan struct{})
	c := collector(t, func(int, http.ResponseWriter, *http.Request) bool { <-release; return false })
	const n = 50_000
	told(t, c.URL+"/v1/traces", n, waittest.Limit, func() { close(release) }).one(t, "some spans were dropped")
	if got := len(c.Spans()); got < 1000 || got > n {
		t.Errorf("%d spans of %d have arrived", got, n)
	}
}
