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
	P50       int64   `json:"p50_ms"`
	P95       int64   `json:"p95_ms"`
	Max       int64   `json:"max_ms"`
	// CPU time of the last attempts of a step, and their peak memory; nil if they are not known of any attempt.
	CPU50 *int64 `json:"cpu_p50_ms,omitempty"`
	CPU95 *int64 `json:"cpu_p95_ms,omitempty"`
	RSS50 *int64 `json:"max_rss_p50_bytes,omitempty"`
	RSS95 *int64 `json:"max_rss_p95_bytes,omitempty"`

	durations, cpu []time.Duration
	rss            []int64
}

func (t *Tally) add(st dag.Status, took time.Duration) {
	t.Runs++
	if st == dag.Succeeded {
		t.Succeeded++
	}
	t.durations = append(t.durations, took)
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
	t.Rate = float64(t.Succeeded) / float64(t.Runs)
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

// Of computes the statistics of runs of a tool. runs are newest first.
func Of(ctx context.Context, tool string, runs []history.RunInfo, events Events) (*Stats, error) {
	c := &collector{stats: &Stats{Schema: "flowrun/stats.v1", Tool: tool, Total: &Tally{}, Steps: []*Tally{}, History: newGrid(len(runs))}, byName: map[string]*Tally{}}
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
	stats  *Stats
	byName map[string]*Tally
}

func (c *collector) addRun(ctx context.Context, i int, r history.RunInfo, events Events) error {
	run := fold.New[struct{}](fold.Plan{})
	for after := uint64(0); ; {
		list, err := events(ctx, r.ID, after)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			break
		}
		for j := range list {
			c.addEvent(i, run, &list[j])
		}
		after = list[len(list)-1].Seq
	}
	took := r.Took(r.Ended)
	c.stats.Total.add(r.Status, took)
	c.stats.History.Runs[i] = GridRun{r.ID, r.Status, r.Started, took.Milliseconds()}
	return nil
}

func (c *collector) addEvent(i int, run *fold.Run[struct{}], e *dag.Event) {
	s := run.Apply(e)
	name := string(e.Node.WithoutKeys())
	switch {
	case e.Kind == dag.StepStarted && c.byName[name] == nil:
		c.byName[name] = &Tally{Name: name}
		c.stats.Steps = append(c.stats.Steps, c.byName[name])
	case e.Kind == dag.StepFinished && s != nil:
		c.stats.History.set(i, name, e.Result.Status, e.Node)
		if c.byName[name] != nil && !s.IsLoop() && countsAsRun(s.Status) { // for a loop, only its items count
			c.byName[name].add(e.Result.Status, s.Durations(e.Time).Took)
			c.byName[name].addUsage(e.Result.Usage)
		}
	}
}

// countsAsRun reports whether a step with this final state has done its work, successfully or not.
func countsAsRun(st dag.Status) bool { return st.Executed() && st != dag.Reused }
