package web_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestCompressedEvents: the events of a run that has ended are compressed for who can read that.
func TestCompressedEvents(t *testing.T) {
	b := newBench(t, web.Options{})
	id := b.start(`{"tool": "keeps"}`)
	b.becomes(id, dag.Succeeded)
	for accepts, want := range map[string]string{"gzip": "gzip", "identity": ""} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", b.server.URL+"/api/v1/runs/"+id+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", accepts)
		r.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body := io.Reader(res.Body)
		if res.Header.Get("Content-Encoding") == "gzip" {
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if err != nil || res.Header.Get("Content-Encoding") != want || !strings.HasPrefix(string(text), "id: 1\n") || !strings.HasSuffix(string(text), "event: end\ndata: {\"status\":\"succeeded\"}\n\n") {
			t.Errorf("%s: %v %s %v", accepts, res.Header, text, err)
		}
	}
}

// TestRunEvents checks that a reader gets all events in order, from any position, and the
// end.
func TestRunEvents(t *testing.T) {
	b := newBench(t, web.Options{})
	id, file := b.gated()
	next, _ := b.listen("/api/v1/runs/" + id + "/events")
	var live []message
	for len(live) < 4 { // run.started, one's start and end, two's start
		m, more := next()
		if !more {
			t.Fatalf("the stream ended: %v", live)
		}
		live = append(live, m)
	}
	b.open(file)
	for {
		m, more := next()
		if !more {
			break
		}
		live = append(live, m)
	}
	last := live[len(live)-1]
	if last.event != "end" || last.data != `{"status":"succeeded"}` {
		t.Errorf("%+v", last)
	}
	for i, m := range live[:len(live)-1] {
		schematest.Validate(t, "event", []byte(m.data))
		if m.id != fmt.Sprint(i+1) {
			t.Errorf("event %d has the id %s", i+1, m.id)
		}
	}
	recorded, err := b.store.Events(t.Context(), id, 0)
	if err != nil || len(recorded) != len(live)-1 {
		t.Errorf("%d events of %d, %v", len(live)-1, len(recorded), err)
	}
	for _, header := range [][]string{{"Last-Event-ID", "3"}, {"Last-Event-ID", "3"}} {
		next, _ := b.listen("/api/v1/runs/"+id+"/events?after=1", header...)
		if m, _ := next(); m.id != "4" || m.data != live[3].data {
			t.Errorf("%v: %+v", header, m)
		}
	}
	for last, want := range map[int]int{len(recorded): 204, len(recorded) - 1: 200} { // 204 has a browser stop
		if res, _ := b.ask("GET", "/api/v1/runs/"+id+"/events", "", "Last-Event-ID", fmt.Sprint(last)); res.StatusCode != want {
			t.Errorf("again after event %d of %d: status %d, want %d", last, len(recorded), res.StatusCode, want)
		}
	}
	next, _ = b.listen("/api/v1/runs/" + id + "/events?after=99")
	if m, _ := next(); m.event != "end" {
		t.Errorf("%+v", m)
	}
}

// TestPastEvents checks that the past events of a run can be read without those to come.
func TestPastEvents(t *testing.T) {
	b := newBench(t, web.Options{})
	id, file := b.gated()
	past := func(query string) (list []message) {
		next, _ := b.listen("/api/v1/runs/" + id + "/events?past=1" + query)
		for m, more := next(); more; m, more = next() {
			list = append(list, m)
		}
		return list
	}
	waittest.Until(t, "run.started, the start and end of one, and the start of two", func() bool { return len(past("")) == 4 })
	if list := past("&after=3"); len(list) != 1 || list[0].id != "4" || list[0].event != "" {
		t.Errorf("%+v", list)
	}
	b.open(file)
	b.becomes(id, dag.Succeeded)
	list := past("&after=4")
	if last := list[len(list)-1]; last.event != "end" || last.data != `{"status":"succeeded"}` {
		t.Errorf("%+v", list)
	}
}

// TestWatchRuns checks that the stream of all runs can be limited to several of them.
func TestWatchRuns(t *testing.T) {
	b := newBench(t, web.Options{})
	id, file := b.gated()
	other := b.start(`{"tool": "hello"}`)
	b.becomes(other, dag.Succeeded)
	next, _ := b.listen("/api/v1/events?run=" + id + "&run=" + other)
	b.becomes(b.start(`{"tool": "hello"}`), dag.Succeeded)
	b.open(file)
	for {
		m, more := next()
		if !more || !strings.Contains(m.data, id) {
			t.Fatalf("%+v", m)
		}
		if strings.Contains(m.data, "run.finished") {
			return
		}
	}
}

// TestRunEventsOfAnotherTry checks that a run which ended and is resumed is followed to its
// next end.
func TestRunEventsOfAnotherTry(t *testing.T) {
	b := newBench(t, web.Options{})
	id := b.start(`{"tool": "fails"}`)
	b.becomes(id, dag.Failed)
	before, err := b.store.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if res, doc := b.ask("POST", "/api/v1/runs/"+id+"/resume", ""); res.StatusCode != 202 {
		t.Fatalf("%d %s", res.StatusCode, doc)
	}
	next, _ := b.listen(fmt.Sprintf("/api/v1/runs/%s/events?after=%d", id, len(before)))
	if m, _ := next(); !strings.Contains(m.data, `"run.resumed"`) {
		t.Errorf("%+v", m)
	}
}

// TestWatch checks that the stream of all runs filters, continues from a position, and says
// when it cannot.
func TestWatch(t *testing.T) {
	b := newBench(t, web.Options{})
	all, _ := b.listen("/api/v1/events")
	only, _ := b.listen("/api/v1/events?tool=fails")
	runs, _ := b.get("/api/v1/runs")
	before := runs.Header.Get("Last-Event-ID")
	hello := b.start(`{"tool": "hello"}`)
	b.becomes(hello, dag.Succeeded)
	fails := b.start(`{"tool": "fails"}`)
	var known []message
	for len(known) == 0 || !strings.Contains(known[len(known)-1].data, fails) || !strings.Contains(known[len(known)-1].data, "run.finished") {
		m, more := all()
		if !more {
			t.Fatalf("the stream ended: %v", known)
		}
		schematest.Validate(t, "event", []byte(m.data))
		known = append(known, m)
	}
	if m, _ := only(); !strings.Contains(m.data, fails) || !strings.Contains(m.data, "run.started") {
		t.Errorf("%+v", m)
	}
	again, _ := b.listen("/api/v1/events", "Last-Event-ID", known[2].id)
	for _, want := range known[3:] {
		if m, _ := again(); m != want {
			t.Errorf("%+v, want %+v", m, want)
		}
	}
	since, _ := b.listen("/api/v1/events", "Last-Event-ID", before)
	if m, _ := since(); m != known[0] {
		t.Errorf("after the state that was read before: %+v, want %+v", m, known[0])
	}
	lost, _ := b.listen("/api/v1/events?after=1")
	if m, _ := lost(); m.event != "reset" || m.id != "" {
		t.Errorf("%+v", m)
	}
	if m, _ := lost(); m != known[0] {
		t.Errorf("%+v", m)
	}
}

// TestBeat checks that a stream without events sends keep-alive comments, and that a
// reader's position advances over events that it filters out.
func TestBeat(t *testing.T) {
	b := newBench(t, web.Options{})
	web.Hasten(b.handler, time.Minute, time.Minute, 20*time.Millisecond)
	res, err := b.server.Client().Do(b.request("GET", "/api/v1/events?tool=fails", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	if line, err := in.ReadString('\n'); line != ":\n" {
		t.Fatalf("%q %v", line, err)
	}
	b.becomes(b.start(`{"tool": "hello"}`), dag.Succeeded)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(line, "id: ") {
			return
		}
		if strings.HasPrefix(line, "data") {
			t.Fatal(line)
		}
	}
}

// TestHead checks that a HEAD request for a stream does not hold the connection.
func TestHead(t *testing.T) {
	b := newBench(t, web.Options{})
	id, file := b.gated()
	for _, path := range []string{"/api/v1/events", "/api/v1/runs/" + id + "/events", "/api/v1/runs/" + id + "/logs?follow=1", "/api/v1/runs/" + id} {
		if res, _ := b.ask("HEAD", path, ""); res.StatusCode != 200 {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
	b.open(file)
	b.becomes(id, dag.Succeeded)
}

// TestLogs checks that output arrives while steps run, without prefix for one step and with
// names for all.
func TestLogs(t *testing.T) {
	b := newBench(t, web.Options{})
	web.Hasten(b.handler, time.Minute, time.Minute, time.Minute)
	id, file := b.gated()
	res, err := b.server.Client().Do(b.request("GET", "/api/v1/runs/"+id+"/logs?step=two&follow=1", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	in := bufio.NewReader(res.Body)
	if line, err := in.ReadString('\n'); line != "waiting\n" {
		t.Fatalf("%q %v", line, err)
	}
	b.open(file)
	if rest, err := io.ReadAll(in); string(rest) != "done\n" {
		t.Errorf("%q %v", rest, err)
	}
	for query, want := range map[string]string{
		"":                        "one | first\none | grumble\ntwo | waiting\ntwo | done\n",
		"?stream=stderr":          "one | grumble\n",
		"?step=one":               "first\ngrumble\n",
		"?step=one&stream=stdout": "first\n",
		"?step=one&follow=1":      "first\ngrumble\n",
	} {
		if _, text := b.get("/api/v1/runs/" + id + "/logs" + query); string(text) != want {
			t.Errorf("%s: %q", query, text)
		}
	}
}

// TestSlowBody checks that the server does not wait long for a body, whoever sends it.
func TestSlowBody(t *testing.T) {
	b := newBench(t, web.Options{})
	web.Hasten(b.handler, 50*time.Millisecond, time.Minute, time.Minute)
	for _, c := range []struct {
		request string
		status  int
	}{
		{"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"tool\"", 408},
		{"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{\"to", 408},
		{"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"tool\"", 401},
		{"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 100\r\n\r\n", 200},
		{"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
	} {
		conn, err := net.Dial("tcp", b.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(waittest.Limit))
		io.WriteString(conn, c.request)
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != c.status {
			t.Errorf("%.30q: %v %v", c.request, err, res)
			continue
		}
		// And then the connection ends: all that was sent is read.
		if _, err := io.Copy(io.Discard, in); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("%.30q: the connection stays open: %v", c.request, err)
		}
	}
}

// flood is a feed that has more to tell than anybody can read.
type flood struct {
	ended atomic.Int32
}

func (f *flood) Watch(ctx context.Context, _ uint64) (<-chan []*feed.Update, bool) {
	c := make(chan []*feed.Update)
	go func() {
		defer f.ended.Add(1)
		defer close(c)
		text := strings.Repeat("x", 4096)
		for i := uint64(1); ; i++ {
			e := dag.Event{V: 1, Seq: i, Kind: dag.StepFinished, Node: "s", Time: time.Now(), Result: &dag.Result{Stdout: &dag.Output{Inline: text, Size: 4096}}}
			select {
			case c <- []*feed.Update{{ID: i, Run: "r", Tool: "t", Event: e}}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return c, false
}

func (*flood) Last() uint64 { return 0 }

// TestSlowReader checks that a client that does not read is disconnected.
func TestSlowReader(t *testing.T) {
	f := &flood{}
	handler, err := web.New(&web.Service{Feed: f, Health: func() service.Health { return service.Health{Ready: true} }}, web.Options{Tokens: []service.Token{{Text: token}}})
	if err != nil {
		t.Fatal(err)
	}
	web.Hasten(handler, time.Minute, 50*time.Millisecond, time.Minute)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go server.Serve(l)
	defer server.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", token)
	waittest.Until(t, "end of the stalled reader", func() bool { return f.ended.Load() > 0 })
}

// TestManyReaders checks that a thousand readers get the same events, and that a
// disconnecting client stops no run.
func TestManyReaders(t *testing.T) {
	const readers = 1000
	b := newBench(t, web.Options{})
	id, file := b.gated()
	socket := b.onSocket() // which needs half the descriptors of what TCP may run out of
	var ready, done sync.WaitGroup
	ends := make(chan string, readers)
	for i := range readers {
		ready.Add(1)
		done.Go(func() {
			path := "/api/v1/events?run=" + id
			if i%2 == 0 {
				path = "/api/v1/runs/" + id + "/events?after=4"
			}
			r := b.request("GET", path, "")
			res, err := socket.Do(r)
			ready.Done()
			if err != nil {
				ends <- err.Error()
				return
			}
			defer res.Body.Close()
			in := bufio.NewScanner(res.Body)
			for in.Scan() {
				if strings.Contains(in.Text(), `"run.finished"`) {
					ends <- ""
					return
				}
			}
			ends <- fmt.Sprint("the stream ended: ", in.Err())
		})
	}
	ready.Wait()
	gone, cancel := context.WithCancel(t.Context())
	res, err := socket.Do(b.request("GET", "/api/v1/runs/"+id+"/logs?follow=1", "").WithContext(gone))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	res.Body.Close()
	b.open(file)
	done.Wait()
	for range readers {
		if why := <-ends; why != "" {
			t.Error(why)
		}
	}
	b.becomes(id, dag.Succeeded)
}

// TestDrain checks that streams end when the service stops, and that nothing new starts.
func TestDrain(t *testing.T) {
	b := newBench(t, web.Options{})
	web.Hasten(b.handler, time.Minute, time.Minute, time.Minute)
	id, _ := b.gated()
	all, _ := b.listen("/api/v1/events")
	one, _ := b.listen("/api/v1/runs/" + id + "/events")
	logs, err := b.server.Client().Do(b.request("GET", "/api/v1/runs/"+id+"/logs?follow=1", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Body.Close()
	b.drain()
	for _, next := range []func() (message, bool){all, one} {
		for {
			if _, more := next(); !more {
				break
			}
		}
	}
	if _, err := io.Copy(io.Discard, logs.Body); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ method, path, body string }{{"POST", "/api/v1/runs", `{"tool": "hello"}`}, {"GET", "/api/v1/events", ""}} {
		if res, doc := b.ask(c.method, c.path, c.body); res.StatusCode != 503 || problemIn(t, doc).Code != "draining" {
			t.Errorf("%d %s", res.StatusCode, doc)
		}
	}
	if res, doc := b.get("/readyz"); res.StatusCode != 503 || !strings.Contains(string(doc), "draining") {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	if res, _ := b.get("/healthz"); res.StatusCode != 200 {
		t.Errorf("%d", res.StatusCode)
	}
	if info, err := b.store.Info(t.Context(), id); err != nil || info.Status != dag.Interrupted {
		t.Errorf("%v %+v", err, info)
	}
}

// TestClientGoes checks that a requested run starts even if the client disconnects.
func TestClientGoes(t *testing.T) {
	b := newBench(t, web.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := b.request("POST", "/api/v1/runs", `{"tool": "hello"}`, "Idempotency-Key", "gone")
	r.RequestURI, r.URL.Host = r.URL.Path, ""
	w := &discard{header: http.Header{}}
	b.handler.ServeHTTP(w, r.WithContext(ctx))
	b.becomes(web.DerivedID("key", "gone"), dag.Succeeded)
}

// discard is a client that has gone.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header       { return d.header }
func (d *discard) WriteHeader(int)           {}
func (d *discard) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// BenchmarkStart measures one start request with its response.
func BenchmarkShow(b *testing.B) {
	h := newBench(b, web.Options{})
	id := h.start(`{"tool": "hello"}`)
	h.becomes(id, dag.Succeeded)
	h.openAPI = nil
	for b.Loop() {
		_, doc := h.get("/api/v1/runs/" + id)
		var r history.RunInfo
		if err := json.Unmarshal(doc, &r); err != nil {
			b.Fatal(err)
		}
	}
}
