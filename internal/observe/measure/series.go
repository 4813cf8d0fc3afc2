package measure

import (
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/observe/series"
)

// pair is the key of a step's series.
type pair struct{ tool, step string }

// The final statuses of runs and steps. Their counters start at zero.
var (
	runEnds  = []dag.Status{dag.Succeeded, dag.Failed, dag.Cancelled, dag.TimedOut, dag.Interrupted}
	stepEnds = []dag.Status{dag.Succeeded, dag.Reused, dag.Failed, dag.Skipped, dag.Cancelled, dag.TimedOut, dag.Interrupted}
)

// statusCounters are counters by final status.
type statusCounters [dag.Interrupted + 1]*series.Counter

// count counts a final status; others are ignored.
func (e *statusCounters) count(s dag.Status) {
	if int(s) < len(e) && e[s] != nil {
		e[s].Inc()
	}
}

// toolSeries are the series of a tool.
type toolSeries struct {
	ended    statusCounters
	duration *series.Histogram
	running  *series.Gauge
	wait     *series.Histogram
}

// stepSeries are the series of a step.
type stepSeries struct {
	ended    statusCounters
	duration *series.Histogram

	retries, fallbacks, timeouts, cacheHits, truncated, refused *series.Counter

	user, system *series.Counter
	maxRSS       *series.Histogram
}

// tool returns the series of a tool.
func (m *Metrics) tool(name string) *toolSeries {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.tools[name]; !known && len(m.tools) >= m.limit {
		name = Other
	}
	if t := m.tools[name]; t != nil {
		return t
	}
	f := &m.families
	t := &toolSeries{duration: f.runDuration.With(name), running: f.runsRunning.With(name), wait: f.queueWait.With(name)}
	for _, s := range runEnds {
		t.ended[s] = f.runs.With(name, s.String())
	}
	m.tools[name] = t
	return t
}

// Succeeded sets the time of the last successful run of a tool, for runs without a Run,
// such as those of an earlier process.
func (m *Metrics) Succeeded(tool string, at time.Time) {
	m.tool(tool)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tools[tool] == nil {
		tool = Other
	}
	m.families.lastSuccess.With(tool).Set(timestamp(at))
}

// step returns the series of a step.
func (m *Metrics) step(p pair) *stepSeries {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.steps[p]; !known && len(m.steps) >= m.limit {
		p = pair{Other, Other}
	}
	if s := m.steps[p]; s != nil {
		return s
	}
	f := &m.families
	s := &stepSeries{
		duration:  f.stepDuration.With(p.tool, p.step),
		retries:   f.retries.With(p.tool, p.step),
		fallbacks: f.fallbacks.With(p.tool, p.step),
		timeouts:  f.timeouts.With(p.tool, p.step),
		cacheHits: f.cacheHits.With(p.tool, p.step),
		truncated: f.truncated.With(p.tool, p.step),
		refused:   f.refused.With(p.tool, p.step),
		user:      f.cpu.With(p.tool, p.step, "user"),
		system:    f.cpu.With(p.tool, p.step, "system"),
		maxRSS:    f.maxRSS.With(p.tool, p.step),
	}
	for _, st := range stepEnds {
		s.ended[st] = f.steps.With(p.tool, p.step, st.String())
	}
	m.steps[p] = s
	return s
}
