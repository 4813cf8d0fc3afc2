package measure

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// reasonCache is the Result.Reason of a step whose result came from the cache. Steps can
// also be reused because the run was resumed.
const reasonCache = "cache"

// Run measures one run: it is a dag.Sink for that run only. Only the goroutine that owns
// the run may use it.
type Run struct {
	metrics *Metrics
	name    string
	tool    *toolSeries
	steps   map[string]*step
	label   []byte // label of the current event
	started time.Time
	ended   bool
}

// step is what a run stores about a step.
type step struct {
	*stepSeries
	loop     bool // items of it were seen: they are counted instead of the loop
	hasSteps bool // it contains other steps, so its output is that of one of them
}

// Run creates a sink for one run of a tool.
func (m *Metrics) Run(tool string) *Run {
	return &Run{metrics: m, name: tool, tool: m.tool(tool), steps: map[string]*step{}}
}

// Observe is a flowrun.Observer: among Config.Observers of an Engine it counts all runs of
// the Engine.
func (m *Metrics) Observe(run history.ObservedRun) (dag.Sink, func()) {
	r := m.Run(run.Tool)
	return r, r.Close
}

// Close counts a run without an end as interrupted: its events could not be recorded, or
// another engine has resumed it. Call it when the engine's Run has returned; after the end
// of the run it does nothing.
func (r *Run) Close() {
	if !r.started.IsZero() {
		r.end(dag.Interrupted)
	}
}

// Emit counts an event.
func (r *Run) Emit(e dag.Event) {
	if r.started.IsZero() { // at run.started, or at the first event of a resumed run
		r.started = e.Time
		r.tool.running.Add(1)
	}
	switch e.Kind {
	case dag.StepStarted:
		r.at(e.Node)
		r.tool.wait.Observe(seconds(e.Queued))
	case dag.StepRetrying, dag.StepFallback, dag.StepFinished:
		if e.Result != nil {
			r.ending(&e)
		}
	case dag.RunFinished:
		if e.Result != nil && !r.ended {
			r.tool.duration.Observe(seconds(e.Result.Took()))
			r.end(e.Result.Status)
			if e.Result.Status == dag.Succeeded {
				r.metrics.Succeeded(r.name, e.Time)
			}
		}
	}
}

func (r *Run) end(s dag.Status) {
	if !r.ended {
		r.ended = true
		r.tool.running.Add(-1)
		r.tool.ended.count(s)
	}
}

// ending counts the end of an attempt or of a step.
func (r *Run) ending(e *dag.Event) {
	s, item := r.at(e.Node)
	if s.loop && !item {
		return
	}
	switch e.Kind {
	case dag.StepRetrying:
		if e.Reason != dag.ReasonRepeat {
			s.retries.Inc()
		}
	case dag.StepFallback:
		s.fallbacks.Inc()
	default:
		s.finished(e.Result)
	}
	ran := e.Result.Status.Executed() && e.Result.Status != dag.Reused
	if ran && !s.hasSteps {
		s.countTruncated(e.Result.Stdout)
		s.countTruncated(e.Result.Stderr)
		s.countUsage(e.Result.Usage)
		s.refused.Add(float64(e.Result.Refused))
	}
	if e.Result.Status == dag.TimedOut { // an attempt with ReasonTimeout and another status exceeded the timeout of an outer step
		s.timeouts.Inc()
	}
}

// finished counts the end of a step.
func (s *step) finished(res *dag.Result) {
	s.ended.count(res.Status)
	switch res.Status {
	case dag.Reused:
		if res.Reason == reasonCache {
			s.cacheHits.Inc()
		}
	case dag.Succeeded, dag.Failed, dag.TimedOut:
		if !res.Started.IsZero() { // zero if the step failed before its first attempt
			s.duration.Observe(seconds(res.Took()))
		}
	}
}

func (s *step) countTruncated(o *dag.Output) {
	if o != nil && o.Truncated {
		s.truncated.Inc()
	}
}

func (s *step) countUsage(u dag.Usage) {
	s.user.Add(seconds(u.User))
	s.system.Add(seconds(u.System))
	if u.MaxRSS > 0 {
		s.maxRSS.Observe(float64(u.MaxRSS))
	}
}

// at returns the step of a path.
func (r *Run) at(id dag.ID) (_ *step, item bool) {
	r.label, item = appendLabel(r.label[:0], id)
	s := r.steps[string(r.label)]
	if s == nil {
		s = r.addStep(string(r.label))
	}
	s.loop = s.loop || item
	return s, item
}

// addStep returns the step with that label. It adds the step, and those that contain it, if
// they are new.
func (r *Run) addStep(label string) *step {
	s := r.steps[label]
	if s == nil {
		s = &step{stepSeries: r.metrics.step(pair{r.name, label})}
		r.steps[label] = s
		if i := strings.LastIndexByte(label, '/'); i > 0 {
			r.addStep(label[:i]).hasSteps = true
		}
	}
	return s
}
