package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Service are the series of a service, of all runs of its state directory. It is safe for
// concurrent use.
type Service struct{ wait prometheus.Histogram }

// Service registers the series of a service. standing is called at every scrape, from any
// goroutine: how many runs have not ended, and how many of them stand in line.
func (p *Program) Service(standing func() (open, queued int)) (*Service, error) {
	s := &Service{
		wait: prometheus.NewHistogram(histogramOpts("flowrun_run_queue_wait_seconds", "How long runs stood in line for locks, or for a turn of their tool.", workBuckets)),
	}
	for _, c := range []prometheus.Collector{s.wait,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "flowrun_runs_open", Help: "Runs of the state directory that have not ended."},
			func() float64 { n, _ := standing(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "flowrun_run_queue_depth", Help: "Runs that stand in line for locks, or for a turn of their tool."},
			func() float64 { _, n := standing(); return float64(n) }),
	} {
		if err := p.own.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register the metrics of the service: %w", err)
		}
	}
	return s, nil
}

// Waited notes how long a run stood in line.
func (s *Service) Waited(d time.Duration) { s.wait.Observe(seconds(d)) }
