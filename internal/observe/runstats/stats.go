package runstats

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// Stats is the document flowrun/stats.v1.
type Stats struct {
	Schema  string   `json:"schema"`
	Tool    string   `json:"tool"`
	Total   *Tally   `json:"total"`
	Steps   []*Tally `json:"steps"` // in the order in which they first started
	History *Grid    `json:"history"`
}

// Tally holds the statistics of a step, or of the whole tool.
type Tally struct {
	Name      string  `json:"name,omitempty"`
	Runs      int     `json:"runs"`
	Succeeded int     `json:"succeeded"`
	Rate      float64 `json:"success_rate"`
	// Attempts is how many attempts a step made in all, and MaxAttempts in one run; both are 0 for whole runs.
	Attempts    int `json:"attempts,omitempty"`
	MaxAttempts int `json:"max_attempts,omitempty"`
	// Flaky is how often a step succeeded only after a retry, and for whole runs how many of them succeeded and had
	// such a step. FlakyRate is its share of Runs.
	Flaky     int     `json:"flaky"`
	FlakyRate float64 `json:"flaky_rate"`
	P50       int64   `json:"p50_ms"`
	P95       int64   `json:"p95_ms"`
	Max       int64   `json:"max_ms"`
	// CPU time of the last attempts of a step, and their peak memory; nil if they are not known of any attempt.
	CPU50 *int64 `json:"cpu_p50_ms,omitempty"`
	CPU95 *int64 `json:"cpu_p95_ms,omitempty"`
	RSS50 *int64 `json:"max_rss_p50_bytes,omitempty"`
	RSS95 *int64 `json:"max_rss_p95_bytes,omitempty"`
	// Recent are the newest runs and Earlier those before; nil if there are none.
	Recent  *Part `json:"recent,omitempty"`
	Earlier *Part `json:"earlier,omitempty"`

	durations, cpu []time.Duration
	rss            []int64
}

// Part holds some statistics of a part of the runs, by which a trend is seen.
type Part struct {
	Runs      int     `json:"runs"`
	Rate      float64 `json:"success_rate"`
	FlakyRate float64 `json:"flaky_rate"`
	P50       int64   `json:"p50_ms"`

	succeeded, flaky int
	durations        []time.Duration
}

// outcome is how a step or a run ended once.
type outcome struct {
	status   dag.Status
	took     time.Duration
	attempts int
	flaky    bool // it succeeded only after a retry
	recent   bool // in one of the newest runs
}

func (t *Tally) add(o outcome) {
	part := &t.Earlier
	if o.recent {
		part = &t.Recent
	}
	if *part == nil {
		*part = new(Part)
	}
	p := *part
	t.Runs, p.Runs = t.Runs+1, p.Runs+1
	if o.status == dag.Succeeded {
		t.Succeeded, p.succeeded = t.Succeeded+1, p.succeeded+1
	}
	if o.flaky {
		t.Flaky, p.flaky = t.Flaky+1, p.flaky+1
	}
	t.Attempts, t.MaxAttempts = t.Attempts+o.attempts, max(t.MaxAttempts, o.attempts)
	t.durations, p.durations = append(t.durations, o.took), append(p.durations, o.took)
}

func (t *Tally) addUsage(u dag.Usage) {
	if u.CPU() > 0 {
		t.cpu = append(t.cpu, u.CPU())
	}
	if u.MaxRSS > 0 {
		t.rss = append(t.rss, u.MaxRSS)
	}
}

func (t *Tally) compute() {
	if t.Runs == 0 {
		return
	}
	t.Rate, t.FlakyRate = share(t.Succeeded, t.Runs), share(t.Flaky, t.Runs)
	for _, p := range []*Part{t.Recent, t.Earlier} {
		if p != nil {
			slices.Sort(p.durations)
			p.Rate, p.FlakyRate, p.P50 = share(p.succeeded, p.Runs), share(p.flaky, p.Runs), percentile(p.durations, 50).Milliseconds()
		}
	}
	for _, list := range [][]time.Duration{t.durations, t.cpu} {
		slices.Sort(list)
	}
	slices.Sort(t.rss)
	t.P50, t.P95, t.Max = percentile(t.durations, 50).Milliseconds(), percentile(t.durations, 95).Milliseconds(), percentile(t.durations, 100).Milliseconds()
	if len(t.cpu) > 0 {
		t.CPU50, t.CPU95 = new(percentile(t.cpu, 50).Milliseconds()), new(percentile(t.cpu, 95).Milliseconds())
	}
	if len(t.rss) > 0 {
		t.RSS50, t.RSS95 = new(percentile(t.rss, 50)), new(percentile(t.rss, 95))
	}
}

func share(n, of int) float64 { return float64(n) / float64(of) }

// percentile returns a percentile of a sorted list (nearest rank), 0 of an empty one.
func percentile[T time.Duration | int64](sorted []T, percent int) T {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[(len(sorted)*percent+99)/100-1]
}

// Statuses are the states of the runs that have statistics: those that have ended.
func Statuses() []dag.Status {
	return []dag.Status{dag.Succeeded, dag.Failed, dag.TimedOut, dag.Cancelled}
}

// Events returns the events of a run that are numbered above after, or some of the first of
// them; none means that there are no more.
type Events func(ctx context.Context, id string, after uint64) ([]dag.Event, error)

// DefaultRecent is how many of the newest runs are compared with those before, unless a person chooses.
const DefaultRecent = 10

// Of computes the statistics of runs of a tool. runs are newest first; so many of them count as recent.
func Of(ctx context.Context, tool string, runs []history.RunInfo, recent int, events Events) (*Stats, error) {
	c := &collector{recent: recent, stats: &Stats{Schema: "flowrun/stats.v1", Tool: tool, Total: &Tally{}, Steps: []*Tally{}, History: newGrid(len(runs))}, byName: map[string]*Tally{}}
	for i, r := range runs {
		if err := c.addRun(ctx, i, r, events); err != nil {
			return nil, err
		}
	}
	s := c.stats
	s.Steps = slices.DeleteFunc(s.Steps, func(t *Tally) bool { return t.Runs == 0 })
	s.Total.compute()
	for _, t := range s.Steps {
		t.compute()
	}
	return s, nil
}

type collector struct {
	recent int
	stats  *Stats
	byName map[string]*Tally
}

func (c *collector) addRun(ctx context.Context, i int, r history.RunInfo, events Events) error {
	run, flaky := fold.New[struct{}](fold.Plan{}), false
	for after := uint64(0); ; {
		list, err := events(ctx, r.ID, after)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for j := range list {
			flaky = c.addEvent(i, run, &list[j]) || flaky
		}
		after = list[len(list)-1].Seq
	}
	took := r.Took(r.Ended)
	c.stats.Total.add(outcome{status: r.Status, took: took, flaky: flaky && r.Status == dag.Succeeded, recent: i < c.recent})
	c.stats.History.Runs[i] = GridRun{r.ID, r.Status, r.Started, took.Milliseconds()}
	return nil
}

// addEvent counts an event of run i. flaky reports that it is the end of a step that succeeded only after a retry.
func (c *collector) addEvent(i int, run *fold.Run[struct{}], e *dag.Event) (flaky bool) {
	s := run.Apply(e)
	name := string(e.Node.WithoutKeys())
	switch {
	case e.Kind == dag.StepStarted && c.byName[name] == nil:
		c.byName[name] = &Tally{Name: name}
		c.stats.Steps = append(c.stats.Steps, c.byName[name])
	case e.Kind == dag.StepFinished && s != nil:
		c.stats.History.set(i, name, e.Result.Status, e.Node)
		if c.byName[name] != nil && !s.IsLoop() && countsAsRun(s.Status) { // for a loop, only its items count
			flaky = e.Result.Status == dag.Succeeded && e.Result.Attempts > 1 && !e.Result.Fallback
			c.byName[name].add(outcome{e.Result.Status, s.Durations(e.Time).Took, e.Result.Attempts, flaky, i < c.recent})
			c.byName[name].addUsage(e.Result.Usage)
		}
	}
	return flaky
}

// countsAsRun reports whether a step with this final state has done its work, successfully or not.
func countsAsRun(st dag.Status) bool { return st.Executed() && st != dag.Reused }
