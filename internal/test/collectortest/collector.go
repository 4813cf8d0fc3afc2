// Package collectortest is an OpenTelemetry collector for tests: it receives spans over HTTP as
// protobuf, and prints them as a tree.
package collectortest

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector is a collector on this machine. Safe for concurrent use.
type Collector struct {
	URL string // for OTEL_EXPORTER_OTLP_ENDPOINT
	// Answer, if set, is called first. If it returns true, it has answered the request itself. n
	// counts the requests from 1.
	Answer func(n int, w http.ResponseWriter, r *http.Request) bool

	server   *httptest.Server
	mu       sync.Mutex
	requests int
	spans    []*tracepb.Span
	resource *resourcepb.Resource
	bodies   []byte
	headers  http.Header
}

// New starts a collector. Call Close when done.
func New() *Collector {
	c := &Collector{}
	c.server = httptest.NewServer(c)
	c.URL = c.server.URL
	return c
}

// Close stops the collector.
func (c *Collector) Close() {
	c.server.CloseClientConnections()
	c.server.Close()
}

// ServeHTTP receives spans.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	c.requests++
	n := c.requests
	c.mu.Unlock()
	if c.Answer != nil && c.Answer(n, w, r) {
		return
	}
	var data tracepb.TracesData
	if err == nil {
		err = proto.Unmarshal(body, &data)
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "these are no spans", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bodies, c.headers = append(c.bodies, body...), r.Header
	for _, rs := range data.ResourceSpans {
		c.resource = rs.Resource
		for _, ss := range rs.ScopeSpans {
			c.spans = append(c.spans, ss.Spans...)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// Requests returns the number of requests so far.
func (c *Collector) Requests() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// Spans returns the spans received so far.
func (c *Collector) Spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.spans)
}

// Last returns the resource and the headers of the last request that was accepted.
func (c *Collector) Last() (*resourcepb.Resource, http.Header) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resource, c.headers
}

// Holds reports whether a text occurs anywhere in the requests received so far.
func (c *Collector) Holds(text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(string(c.bodies), text)
}

// Tree prints the received spans as a tree. Each line has the name of a span, the item of a loop,
// the status, and "(linked)" if it has links. Children are indented and in the order in which they
// started. A span is an orphan if its parent was not received and is not in outside.
func (c *Collector) Tree(outside ...string) string {
	below := map[string][]*tracepb.Span{}
	known := map[string]bool{"": true}
	spans := c.Spans()
	for _, s := range spans {
		parent := hex.EncodeToString(s.ParentSpanId)
		below[parent] = append(below[parent], s)
		known[hex.EncodeToString(s.SpanId)] = true
	}
	var b strings.Builder
	var draw func(parent, indent, mark string)
	draw = func(parent, indent, mark string) {
		list := below[parent]
		slices.SortFunc(list, func(x, y *tracepb.Span) int {
			return cmp.Or(cmp.Compare(x.StartTimeUnixNano, y.StartTimeUnixNano), cmp.Compare(Attribute(x, "flowrun.step"), Attribute(y, "flowrun.step")))
		})
		for _, s := range list {
			line := indent + mark + s.Name
			for _, key := range []string{"flowrun.item", "flowrun.status"} {
				if v := Attribute(s, key); v != "" {
					line += " " + v
				}
			}
			if len(s.Links) > 0 {
				line += " (linked)"
			}
			fmt.Fprintln(&b, line)
			draw(hex.EncodeToString(s.SpanId), indent+"  ", "")
		}
	}
	draw("", "", "")
	for _, parent := range outside {
		draw(parent, "", "")
		known[parent] = true
	}
	for _, s := range spans {
		if parent := hex.EncodeToString(s.ParentSpanId); !known[parent] {
			known[parent] = true
			draw(parent, "", "orphan: ")
		}
	}
	return b.String()
}

// Find returns the only span with this name. It fails the test if there is none or more than one.
func (c *Collector) Find(t testing.TB, name string) *tracepb.Span {
	t.Helper()
	var found []*tracepb.Span
	for _, s := range c.Spans() {
		if s.Name == name {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d spans are called %s:\n%s", len(found), name, c.Tree())
	}
	return found[0]
}

// Attribute returns an attribute of a span as text, "" if it has none.
func Attribute(s *tracepb.Span, key string) string { return value(s.Attributes, key) }

func value(list []*commonpb.KeyValue, key string) string {
	for _, kv := range list {
		if kv.Key != key {
			continue
		}
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			return v.StringValue
		case *commonpb.AnyValue_IntValue:
			return fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_DoubleValue:
			return fmt.Sprint(v.DoubleValue)
		case *commonpb.AnyValue_BoolValue:
			return fmt.Sprint(v.BoolValue)
		}
	}
	return ""
}

// ResourceAttribute returns an attribute of a resource as text, "" if it has none.
func ResourceAttribute(r *resourcepb.Resource, key string) string {
	return value(r.GetAttributes(), key)
}
