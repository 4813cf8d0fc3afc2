package metrics

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// reasonCache is the Result.Reason of a step that is reused because the cache had its
// result; others are reused because a run was taken up again.
const reasonCache = "cache"

// Run watches one run: it is a dag.Sink for that run alone, used by the one goroutine
// that owns it.
type Run struct {
	metrics *Metrics
	name    string
	tool    *toolSeries
	steps   map[string]*step
	label   []byte // of the event at hand
	began   time.Time
	ended   bool
}

// step is what a run knows of a step.
type step struct {
	*stepSeries
	loop  bool // items of it were seen: they are counted, and not the loop as well
	holds bool // it holds other steps, and its output is that of one of them
}

// Run makes a sink for one run of a tool.
func (m *Metrics) Run(tool string) *Run {
	return &Run{metrics: m, name: tool, tool: m.tool(tool), steps: map[string]*step{}}
}

// Close ends the count of a run that came to no end of its own because its events could
// not be recorded any more, or because another engine has taken it over: it counts as
// interrupted. Call it when the engine's Run has returned; after the run's end it does
// nothing.
func (r *Run) Close() {
	if !r.began.IsZero() {
		r.end(dag.Interrupted)
	}
}

// Emit counts an event.
func (r *Run) Emit(e dag.Event) {
	if r.began.IsZero() { // with run.started, or with what a run goes on with
		r.began = e.Time
		r.tool.running.Inc()
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
			r.tool.duration.Observe(seconds(e.Time.Sub(r.began)))
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
		r.tool.running.Dec()
		r.tool.ended.count(s)
	}
}

// ending counts the end of a try, and of a step.
func (r *Run) ending(e *dag.Event) {
	s, item := r.at(e.Node)
	if s.loop && !item {
		return
	}
	switch e.Kind {
	case dag.StepRetrying:
		s.retries.Inc()
	case dag.StepFallback:
		s.fallbacks.Inc()
	default:
		s.finished(e.Result)
	}
	ran := e.Result.Status.Executed() && e.Result.Status != dag.Reused
	if ran && !s.holds {
		s.cut(e.Result.Stdout)
		s.cut(e.Result.Stderr)
	}
	if e.Result.Status == dag.TimedOut { // ReasonTimeout alone: something around it took too long
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
		if !res.Started.IsZero() { // it has run, and did not just fail to be decided
			s.duration.Observe(seconds(res.Ended.Sub(res.Started)))
		}
	}
}

func (s *step) cut(o *dag.Output) {
	if o != nil && o.Truncated {
		s.truncated.Inc()
	}
}

// at finds the step of a path.
func (r *Run) at(id dag.ID) (_ *step, item bool) {
	r.label, item = appendLabel(r.label[:0], id)
	s := r.steps[string(r.label)]
	if s == nil {
		s = r.meet(string(r.label))
	}
	s.loop = s.loop || item
	return s, item
}

// meet makes a step known, and those it is in.
func (r *Run) meet(label string) *step {
	s := r.steps[label]
	if s == nil {
		s = &step{stepSeries: r.metrics.step(pair{r.name, label})}
		r.steps[label] = s
		if i := strings.LastIndexByte(label, '/'); i > 0 {
			r.meet(label[:i]).holds = true
		}
	}
	return s
}
