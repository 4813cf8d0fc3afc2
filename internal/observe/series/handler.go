package series

import (
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/munnerz/goautoneg"
)

const (
	maxScrapes  = 4                // at the same time
	scrapeLimit = 10 * time.Second // for the answer
)

const (
	textType     = "text/plain; version=0.0.4; charset=utf-8"
	protobufType = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
)

// Handler serves the families of these sources, sorted by name. Sources are called at every request, from
// any goroutine.
func Handler(sources ...func() []Family) http.Handler {
	slots := make(chan struct{}, maxScrapes)
	return http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			serve(w, r, sources)
		default:
			http.Error(w, "too many requests at the same time; try again later", http.StatusServiceUnavailable)
		}
	}), scrapeLimit, "the metrics could not be collected in time")
}

func serve(w http.ResponseWriter, r *http.Request, sources []func() []Family) {
	var all []Family
	for _, families := range sources {
		all = append(all, families()...)
	}
	slices.SortFunc(all, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })

	kind, write := textType, WriteText
	if wantsProtobuf(r.Header.Get("Accept")) {
		kind, write = protobufType, WriteProtobuf
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Vary", "Accept, Accept-Encoding")
	out := io.Writer(w)
	if acceptsGzip(r.Header.Get("Accept-Encoding")) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		out = z
	}
	out.Write(write(all)) // an error means that nobody reads the answer
}

// wantsProtobuf reports whether protobuf comes before text in an Accept header.
func wantsProtobuf(accept string) bool {
	for _, a := range goautoneg.ParseAccept(accept) {
		switch {
		case a.Type == "application" && a.SubType == "vnd.google.protobuf" && a.Params["encoding"] == "delimited" &&
			a.Params["proto"] == "io.prometheus.client.MetricFamily":
			return true
		case a.Type == "text" || a.Type == "*":
			return false
		}
	}
	return false
}

func acceptsGzip(accept string) bool {
	for part := range strings.SplitSeq(accept, ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if name == "gzip" && strings.ReplaceAll(quality, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
