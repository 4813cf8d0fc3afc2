package measure

import (
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/observe/series"
)

// Service holds the series of a service: of all runs of its state directory, and of its
// schedules. Safe for concurrent use.
type Service struct {
	wait   *series.Vec[series.Histogram]
	lag    *series.Vec[series.Histogram]
	missed *series.Vec[series.Counter] // schedule
	limit  int

	mu        sync.Mutex
	schedules map[string]bool
}

// Pool is how much of a pool is used.
type Pool struct {
	Name        string
	Slots, Used int
	Waiting     int // attempts that wait for slots
}

// Service registers the series of a service. standing and pools are called at every scrape,
// from any goroutine. standing returns how many runs have not ended, and how many of them are
// queued. pools returns the pools, sorted by name.
func (p *Program) Service(standing func() (open, queued int), pools func() []Pool) (*Service, error) {
	s := &Service{limit: p.limit, schedules: map[string]bool{},
		wait:   series.NewHistogram("flowrun_run_queue_wait_seconds", "How long runs were queued for locks or for a slot of their tool.", workBuckets),
		lag:    series.NewHistogram("flowrun_schedule_lag_seconds", "Delay between the scheduled time and the firing, without jitter.", workBuckets),
		missed: series.NewCounter("flowrun_schedule_missed_total", "Scheduled times that were missed.", "schedule"),
	}
	err := p.registry.Add(s.wait.Family(), s.lag.Family(), s.missed.Family(),
		series.Func(series.KindGauge, "flowrun_runs_open", "Runs in the state directory that have not ended.",
			func() float64 { n, _ := standing(); return float64(n) }),
		series.Func(series.KindGauge, "flowrun_run_queue_depth", "Runs that are queued for locks or for a slot of their tool.",
			func() float64 { _, n := standing(); return float64(n) }),
		poolFamily("flowrun_pool_slots", "Slots of a pool.", pools, func(p Pool) int { return p.Slots }),
		poolFamily("flowrun_pool_slots_used", "Slots of a pool that attempts hold.", pools, func(p Pool) int { return p.Used }),
		poolFamily("flowrun_pool_waiting", "Attempts that wait for slots of a pool.", pools, func(p Pool) int { return p.Waiting }))
	if err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the service: %w", err)
	}
	return s, nil
}

// poolFamily returns a gauge with one series for each pool.
func poolFamily(name, help string, pools func() []Pool, value func(Pool) int) series.Family {
	return series.Family{Name: name, Help: help, Kind: series.KindGauge, Labels: []string{"pool"}, Samples: func() (list []series.Value) {
		for _, p := range pools() {
			list = append(list, series.Value{Labels: []string{p.Name}, Number: float64(value(p))})
		}
		return list
	}}
}

// Waited records how long a run was queued.
func (s *Service) Waited(d time.Duration) { s.wait.With().Observe(seconds(d)) }

// ScheduleFired counts a scheduled time that fired, lag after its time.
func (s *Service) ScheduleFired(lag time.Duration) { s.lag.With().Observe(seconds(lag)) }

// SchedulesMissed counts scheduled times that were missed.
func (s *Service) SchedulesMissed(schedule string, n int) {
	s.mu.Lock()
	if !s.schedules[schedule] && len(s.schedules) >= s.limit {
		schedule = Other
	}
	s.schedules[schedule] = true
	s.mu.Unlock()
	s.missed.With(schedule).Add(float64(n))
}
