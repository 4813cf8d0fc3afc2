package metrics

import (
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Program is the Metrics of a program that has no registry of its own.
type Program struct {
	*Metrics
	own     *prometheus.Registry // flowrun_*
	runtime *prometheus.Registry // process_* and go_*
}

// NewProgram creates a Metrics in a new registry.
func NewProgram(o Options) (*Program, error) {
	p := &Program{own: prometheus.NewRegistry(), runtime: prometheus.NewRegistry()}
	for _, c := range []prometheus.Collector{collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})} {
		if err := p.runtime.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register the collectors of the process: %w", err)
		}
	}
	var err error
	p.Metrics, err = New(p.own, o)
	return p, err
}

// Handler serves all series, including those of the process and of the Go runtime.
func (p *Program) Handler() http.Handler {
	return promhttp.HandlerFor(prometheus.Gatherers{p.own, p.runtime},
		promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

// WriteFile writes the series of flowrun to a file for node_exporter's textfile collector.
// The file is replaced atomically and readable for everyone. The series of the process are
// not included, because node_exporter has series of the same names.
func (p *Program) WriteFile(path string) error {
	if err := prometheus.WriteToTextfile(path, p.own); err != nil {
		return fmt.Errorf("cannot write the metrics to %s: %w; choose a file in an existing, writable folder", path, err)
	}
	return nil
}
