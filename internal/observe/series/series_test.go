package series

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/timestamppb"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// pair is the same histogram here and in client_golang.
type pair struct {
	ours   *Histogram
	theirs prometheus.Histogram
	now    *time.Time
}

var classic = []float64{.1, 1, 10}

func newPair() pair {
	now := noon
	return pair{ours: newHistogram(classic, func() time.Time { return now }), now: &now,
		theirs: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Buckets: classic,
			NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: maxNative, NativeHistogramMinResetDuration: minReset})}
}

func (p pair) compare(t *testing.T) {
	t.Helper()
	want, got := &dto.Metric{}, decode(t, &Family{Kind: KindHistogram}, p.ours.value())
	if err := p.theirs.Write(want); err != nil {
		t.Fatal(err)
	}
	want.Histogram.CreatedTimestamp = timestamppb.New(p.ours.created)
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Fatalf("(-client_golang +ours):\n%s", diff)
	}
}

// decode returns a series as client_golang has it.
func decode(t *testing.T, f *Family, v Value) *dto.Metric {
	t.Helper()
	families := read(t, WriteProtobuf([]Family{{Name: "x", Kind: f.Kind, Labels: f.Labels, Samples: func() []Value { return []Value{v} }}}))
	if len(families) != 1 || len(families[0].Metric) != 1 {
		t.Fatalf("%v", families)
	}
	return families[0].Metric[0]
}

// read parses the protobuf format.
func read(t *testing.T, b []byte) (list []*dto.MetricFamily) {
	t.Helper()
	in := bufio.NewReader(bytes.NewReader(b))
	for {
		f := &dto.MetricFamily{}
		if err := protodelim.UnmarshalFrom(in, f); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
}

// TestHistogram compares histograms with those of client_golang: narrow ones, and wide ones whose
// native buckets become coarser.
func TestHistogram(t *testing.T) {
	for _, width := range []float64{0, 1, 10, 40, 400, 2000} {
		p, random := newPair(), rand.New(rand.NewPCG(1, uint64(width)))
		p.compare(t)
		for i := range 2000 {
			v := math.Exp2(width * (random.Float64() - .5))
			switch i % 50 {
			case 0:
				v = 0
			case 1:
				v = math.Exp2(math.Round(width * (random.Float64() - .5)))
			case 2:
				v = classic[i%len(classic)]
			}
			p.ours.Observe(v)
			p.theirs.Observe(v)
			if i%100 == 0 {
				p.compare(t)
			}
		}
		p.compare(t)
	}
}

// TestHistogramBeginsAnew checks that a histogram that was made coarser begins anew after an hour, and
// one with too many buckets at once if it is older.
func TestHistogramBeginsAnew(t *testing.T) {
	wide := func(p pair) {
		for i := range maxNative + 1 {
			p.ours.Observe(math.Exp2(float64(i)))
		}
	}
	p := newPair()
	wide(p)
	if v := p.ours.value().Histogram; v.Schema != finest-1 || v.Count != maxNative+1 {
		t.Errorf("schema %d, %d observations", v.Schema, v.Count)
	}
	*p.now = p.now.Add(minReset)
	if v := p.ours.value(); v.Histogram.Schema != finest || v.Histogram.Count != 0 || v.Created != noon.Add(minReset) {
		t.Errorf("%+v", v)
	}
	p = newPair()
	*p.now = p.now.Add(minReset)
	wide(p)
	if v := p.ours.value().Histogram; v.Schema != finest || v.Count != 1 {
		t.Errorf("schema %d, %d observations", v.Schema, v.Count)
	}
}

// example is a registry here and one in client_golang with the same series.
func example(t *testing.T) (*Registry, *prometheus.Registry) {
	t.Helper()
	help := "What \"it\" is\nand \\ more."
	names, values := []string{"tool", "a"}, [][]string{{"z", "1"}, {"y", "quoted \" \\ \n"}, {"y", "0"}}
	counters, gauges, histograms := NewCounter("c_total", help, names...), NewGauge("g", help, names...), NewHistogram("h_seconds", help, classic, names...)
	own := &Registry{}
	if err := own.Add(counters.Family(), gauges.Family(), histograms.Family(), NewCounter("empty", "", "x").Family(),
		Func(KindGauge, "f", "Help.", func() float64 { return 1.5e9 }, "k", "v")); err != nil {
		t.Fatal(err)
	}
	theirs := prometheus.NewRegistry()
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "c_total", Help: help}, names)
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "g", Help: help}, names)
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "h_seconds", Help: help, Buckets: classic, NativeHistogramBucketFactor: 1.1}, names)
	theirs.MustRegister(c, g, h, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "f", Help: "Help.", ConstLabels: prometheus.Labels{"k": "v"}},
		func() float64 { return 1.5e9 }))
	for i, v := range values {
		counters.With(v...).Add(float64(3 * i))
		c.WithLabelValues(v...).Add(float64(3 * i))
		gauges.With(v...).Set(-1.25)
		gauges.With(v...).Add(float64(i))
		g.WithLabelValues(v...).Set(-1.25 + float64(i))
		histograms.With(v...).Observe(.3)
		h.WithLabelValues(v...).Observe(.3)
	}
	return own, theirs
}

const (
	acceptProtobuf = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.4,*/*;q=0.2"
	acceptText     = "text/plain;version=0.0.4;q=0.7,application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6"
)

// TestFormats compares what is served with what client_golang serves.
func TestFormats(t *testing.T) {
	own, theirs := example(t)
	for _, accept := range []string{"", acceptText, acceptProtobuf} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Header.Set("Accept", accept)
		got, want := httptest.NewRecorder(), httptest.NewRecorder()
		Handler(own.Families).ServeHTTP(got, r)
		promhttp.HandlerFor(theirs, promhttp.HandlerOpts{}).ServeHTTP(want, r)
		kind := regexp.MustCompile(`; escaping=\w+`).ReplaceAllString(want.Header().Get("Content-Type"), "")
		if got.Header().Get("Content-Type") != kind {
			t.Errorf("%q: type %q, want %q", accept, got.Header().Get("Content-Type"), kind)
		}
		if accept != acceptProtobuf {
			if diff := cmp.Diff(want.Body.String(), got.Body.String()); diff != "" {
				t.Errorf("%q (-client_golang +ours):\n%s", accept, diff)
			}
			continue
		}
		diff := cmp.Diff(read(t, want.Body.Bytes()), read(t, got.Body.Bytes()), protocmp.Transform(), protocmp.IgnoreMessages(&timestamppb.Timestamp{}))
		if diff != "" {
			t.Errorf("(-client_golang +ours):\n%s", diff)
		}
	}
}

// TestRuntime compares the names, types and texts of the runtime's series with those of client_golang.
func TestRuntime(t *testing.T) {
	theirs := prometheus.NewRegistry()
	theirs.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	want := httptest.NewRecorder()
	promhttp.HandlerFor(theirs, promhttp.HandlerOpts{}).ServeHTTP(want, httptest.NewRequest("GET", "/", nil))
	got := httptest.NewRecorder()
	Handler(Runtime).ServeHTTP(got, httptest.NewRequest("GET", "/", nil))
	described := func(text string) []string {
		names := regexp.MustCompile(`(?m)^(# .*|[a-z_]+(\{.*\})?)`).FindAllString(text, -1)
		if processFamilies() == nil {
			names = slices.DeleteFunc(names, func(s string) bool { return strings.Contains(s, "process_") })
		}
		return names
	}
	if diff := cmp.Diff(described(want.Body.String()), described(got.Body.String())); diff != "" {
		t.Errorf("(-client_golang +ours):\n%s", diff)
	}
	for _, number := range regexp.MustCompile(`(?m)^process_\w+ (\S+)$`).FindAllStringSubmatch(got.Body.String(), -1) {
		if number[1] == "0" && !strings.HasPrefix(number[0], "process_cpu") && !strings.HasPrefix(number[0], "process_network") {
			t.Errorf("%s", number[0])
		}
	}
}

func TestGzip(t *testing.T) {
	own, _ := example(t)
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Accept-Encoding", "deflate, gzip;q=1.0")
	w := httptest.NewRecorder()
	Handler(own.Families).ServeHTTP(w, r)
	z, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(text, WriteText(own.Families())) {
		t.Errorf("%v\n%s", err, text)
	}
	if acceptsGzip("gzip; q=0") || acceptsGzip("") {
		t.Error("gzip is used although it is not accepted")
	}
}

// TestTooManyScrapes checks that requests beyond the limit are refused.
func TestTooManyScrapes(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	h := Handler(func() []Family { entered <- struct{}{}; <-leave; return nil })
	codes := make(chan int)
	get := func() {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		codes <- w.Code
	}
	for range maxScrapes {
		go get()
		<-entered
	}
	go get()
	if code := <-codes; code != 503 {
		t.Errorf("code %d, want 503", code)
	}
	close(leave)
	for range maxScrapes {
		if code := <-codes; code != 200 {
			t.Errorf("code %d, want 200", code)
		}
	}
}

func TestNameTaken(t *testing.T) {
	var r Registry
	a, b := NewCounter("a", "").Family(), NewGauge("b", "").Family()
	if err := r.Add(b); err != nil {
		t.Fatal(err)
	}
	if err := r.Add(a, b); err == nil || err.Error() != "there are already series named b" || len(r.Families()) != 1 {
		t.Errorf("error %v, %d families", err, len(r.Families()))
	}
}
