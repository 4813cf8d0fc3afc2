package measure

import (
	"fmt"
	"slices"
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
	late   *series.Vec[series.Counter] // schedule
	paused *series.Vec[series.Counter] // schedule
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

// State reads the state of a service. Its functions are called at every scrape, from any goroutine.
type State struct {
	Runs  func() (open, queued int) // how many runs have not ended, and how many of them are queued
	Pools func() []Pool             // sorted by name
	// Attention returns what needs attention, and AttentionKinds are the kinds of it: every tool has a series of each.
	Attention      func() []Attention
	AttentionKinds []string
	// Schedules returns the schedules that the service fires, sorted by name; nil for none.
	Schedules func() []Schedule
}

// Attention is one thing that needs a person.
type Attention struct{ Kind, Tool string } // Tool is "" if it concerns the machine as a whole

// Schedule says when a schedule fires.
type Schedule struct {
	Name, Tool string
	// Next is when the first time that was not handled yet fires at the latest, zero if there is none. Previous is the time
	// before the last one that has passed, zero if no two times have passed.
	Next, Previous time.Time
}

// Service registers the series of a service.
func (p *Program) Service(state State) (*Service, error) {
	if state.Schedules == nil {
		state.Schedules = func() []Schedule { return nil }
	}
	s := &Service{limit: p.limit, schedules: map[string]bool{},
		wait:   series.NewHistogram("flowrun_run_queue_wait_seconds", "How long runs were queued for locks or for a slot of their tool.", workBuckets),
		lag:    series.NewHistogram("flowrun_schedule_lag_seconds", "Delay between the scheduled time and the firing, without jitter.", workBuckets),
		missed: series.NewCounter("flowrun_schedule_missed_total", "Scheduled times that were missed.", "schedule"),
		late:   series.NewCounter("flowrun_schedule_deadline_missed_total", "Scheduled times whose run had not succeeded at the deadline.", "schedule"),
		paused: series.NewCounter("flowrun_schedule_paused_total", "Pauses of schedules after failures in a row.", "schedule"),
	}
	err := p.registry.Add(s.wait.Family(), s.lag.Family(), s.missed.Family(), s.late.Family(), s.paused.Family(),
		series.Func(series.KindGauge, "flowrun_runs_open", "Runs in the state directory that have not ended.",
			func() float64 { n, _ := state.Runs(); return float64(n) }),
		series.Func(series.KindGauge, "flowrun_run_queue_depth", "Runs that are queued for locks or for a slot of their tool.",
			func() float64 { _, n := state.Runs(); return float64(n) }),
		poolFamily("flowrun_pool_slots", "Slots of a pool.", state.Pools, func(p Pool) int { return p.Slots }),
		poolFamily("flowrun_pool_slots_used", "Slots of a pool that attempts hold.", state.Pools, func(p Pool) int { return p.Used }),
		poolFamily("flowrun_pool_waiting", "Attempts that wait for slots of a pool.", state.Pools, func(p Pool) int { return p.Waiting }),
		p.attention(state),
		scheduleFamily("flowrun_schedule_next_timestamp_seconds", "When a schedule fires next at the latest, in seconds since 1970.", state.Schedules, func(s Schedule) (float64, bool) { return timestamp(s.Next), !s.Next.IsZero() }),
		scheduleFamily("flowrun_schedule_previous_timestamp_seconds", "The scheduled time before the last one, in seconds since 1970; 0 if no two times have passed.", state.Schedules, func(s Schedule) (float64, bool) { return timestamp(s.Previous), true }))
	s.wait.With() // both exist from the start
	s.lag.With()
	if err != nil {
		return nil, fmt.Errorf("cannot register the metrics of the service: %w", err)
	}
	return s, nil
}

// attention returns the gauge of what needs attention: a series for each kind and tool, also if it is 0.
func (p *Program) attention(state State) series.Family {
	return series.Family{Name: "flowrun_attention", Help: "What needs a person, by kind.", Kind: series.KindGauge, Labels: []string{"kind", "tool"}, Samples: func() (list []series.Value) {
		tools := append(p.known(), "")
		count := map[Attention]int{}
		for _, a := range state.Attention() {
			if !slices.Contains(tools, a.Tool) {
				a.Tool = Other
			}
			if count[a]++; !slices.Contains(tools, a.Tool) {
				tools = append(tools, a.Tool)
			}
		}
		slices.Sort(tools)
		for _, kind := range slices.Sorted(slices.Values(state.AttentionKinds)) {
			for _, tool := range tools {
				list = append(list, series.Value{Labels: []string{kind, tool}, Number: float64(count[Attention{kind, tool}])})
			}
		}
		return list
	}}
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

// scheduleFamily returns a gauge with a series for each schedule that has a value.
func scheduleFamily(name, help string, schedules func() []Schedule, value func(Schedule) (float64, bool)) series.Family {
	return series.Family{Name: name, Help: help, Kind: series.KindGauge, Labels: []string{"schedule", "tool"}, Samples: func() (list []series.Value) {
		for _, s := range schedules() {
			if v, has := value(s); has {
				list = append(list, series.Value{Labels: []string{s.Name, s.Tool}, Number: v})
			}
		}
		return list
	}}
}

// timestamp returns a time in the unit of Prometheus, 0 for the zero time.
func timestamp(at time.Time) float64 {
	if at.IsZero() {
		return 0
	}
	return float64(at.UnixMilli()) / 1000
}

// Waited records how long a run was queued.
func (s *Service) Waited(d time.Duration) { s.wait.With().Observe(seconds(d)) }

// ScheduleFired counts a scheduled time that fired, lag after its time.
func (s *Service) ScheduleFired(lag time.Duration) { s.lag.With().Observe(seconds(lag)) }

// ScheduleWatched makes the series of a schedule, with 0: whether runs have a deadline, and whether failures
// pause it.
func (s *Service) ScheduleWatched(schedule string, deadline, pauses bool) {
	if deadline {
		s.late.With(s.label(schedule)).Add(0)
	}
	if pauses {
		s.paused.With(s.label(schedule)).Add(0)
	}
}

// ScheduleLate counts a scheduled time whose run had not succeeded at the deadline.
func (s *Service) ScheduleLate(schedule string) { s.late.With(s.label(schedule)).Add(1) }

// SchedulePaused counts a pause after failures in a row.
func (s *Service) SchedulePaused(schedule string) { s.paused.With(s.label(schedule)).Add(1) }

// SchedulesMissed counts scheduled times that were missed. With 0 the series exists.
func (s *Service) SchedulesMissed(schedule string, n int) {
	s.missed.With(s.label(schedule)).Add(float64(n))
}

// label returns the label of a schedule: its name, or Other if too many have one.
func (s *Service) label(schedule string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.schedules[schedule] && len(s.schedules) >= s.limit {
		schedule = Other
	}
	s.schedules[schedule] = true
	return schedule
}
