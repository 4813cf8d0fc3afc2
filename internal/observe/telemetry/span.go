package telemetry

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// outcome is the part of a Result that a span shows. It contains nothing that a definition,
// a caller or a program chose.
type outcome struct {
	status    dag.Status
	reason    string
	exit      int
	attempts  int
	fallback  bool
	tolerated bool
	usage     dag.Usage
}

func outcomeOf(r *dag.Result) outcome {
	if r == nil {
		return outcome{}
	}
	return outcome{r.Status, r.Reason, r.ExitCode, r.Attempts, r.Fallback, r.Tolerated, r.Usage}
}

// failed reports whether the span is marked as an error. A cancelled or skipped step is not
// the cause of a failure.
func (o outcome) failed() bool {
	return o.status == dag.Failed || o.status == dag.TimedOut || o.status == dag.Interrupted
}

// describe returns the message of the status of a span; "" unless it failed.
func (o outcome) describe() string {
	if !o.failed() {
		return ""
	}
	text := o.status.String()
	switch o.reason {
	case "", text, dag.ReasonTimeout:
	case dag.ReasonExit:
		text += ": exit code " + strconv.Itoa(o.exit)
	default:
		text += ": " + o.reason
	}
	return text
}

// attributes returns the attributes of every span that has ended.
func (o outcome) attributes() []attribute {
	list := []attribute{text("flowrun.status", o.status.String())}
	if o.reason != "" {
		list = append(list, text("flowrun.reason", o.reason))
	}
	if o.status.Executed() && o.status != dag.Reused {
		list = append(list, number("process.exit.code", o.exit))
		list = append(list, usageAttributes(o.usage)...)
	}
	if o.failed() {
		kind := o.reason
		if kind == "" {
			kind = o.status.String()
		}
		list = append(list, text("error.type", kind))
	}
	return list
}

// usageAttributes returns what the processes of a step used.
func usageAttributes(u dag.Usage) (list []attribute) {
	if u.CPU() > 0 {
		list = append(list, seconds("flowrun.cpu.user", u.User), seconds("flowrun.cpu.system", u.System))
	}
	if u.MaxRSS > 0 {
		list = append(list, attribute{"flowrun.max_rss", u.MaxRSS})
	}
	return list
}

// runSpan returns the span of the run.
func (r *run) runSpan(end time.Time, o outcome) *otlpSpan {
	root := &r.steps.Root.Data
	s := r.newSpan(root.attempt.id, root.parent, r.tool, root.start, end, o)
	if root.parent == r.parent.Span && r.parent.Span != [8]byte{} {
		s.flags |= remoteParent
	}
	s.events = events(root.notes)
	for _, l := range r.links {
		if l.String() != "" {
			s.links = append(s.links, l)
		}
	}
	return s
}

// stepSpan returns the span of a step.
func (r *run) stepSpan(s *step, end time.Time, o outcome) *otlpSpan {
	id := s.Data.attempt.id
	if s.Data.attempts > 0 {
		id = stepSpanID(r.id, s)
	}
	p := r.newSpan(id, s.Data.parent, spanName(s.Path), s.Data.start, end, o)
	p.events = events(s.Data.notes)
	p.attributes = append(p.attributes, stepAttributes(s.Path)...)
	if s.Inside != nil && s.Inside.Items > 0 {
		p.attributes = append(p.attributes, number("flowrun.items", s.Inside.Items))
	}
	if o.fallback {
		p.attributes = append(p.attributes, trueValue("flowrun.fallback"))
	}
	if o.tolerated {
		p.attributes = append(p.attributes, trueValue("flowrun.tolerated"))
	}
	switch {
	case s.Data.attempts > 0:
		p.attributes = append(p.attributes, number("flowrun.attempts", max(o.attempts, s.Data.attempts)))
	case s.Data.attempt.number > 0:
		p.attributes = append(p.attributes, s.Data.attempt.attributes()...)
	}
	return p
}

// stepSpanID returns the span id of a step with more than one attempt.
func stepSpanID(run string, s *step) [8]byte { return spanID(run, s.Path, wholeStep, s.Data.resumed) }

// attemptSpan returns the span of an attempt or a fallback, inside the span of its step.
func (r *run) attemptSpan(s *step, end time.Time, o outcome) *otlpSpan {
	name := fmt.Sprintf("%s (attempt %s)", spanName(s.Path), s.Data.attempt.label)
	if s.Data.attempt.label == fallback {
		name = spanName(s.Path) + " (fallback)"
	}
	p := r.newSpan(s.Data.attempt.id, stepSpanID(r.id, s), name, s.Data.attempt.start, end, o)
	p.attributes = append(append(p.attributes, stepAttributes(s.Path)...), s.Data.attempt.attributes()...)
	if s.Data.attempt.label == fallback {
		p.attributes = append(p.attributes, trueValue("flowrun.fallback"))
	}
	return p
}

func (t attempt) attributes() []attribute {
	list := []attribute{number("flowrun.attempt", t.number)}
	if t.queued > 0 {
		list = append(list, seconds("flowrun.queue_wait", t.queued))
	}
	return list
}

// newSpan returns a span with what all spans have in common.
func (r *run) newSpan(id, parent [8]byte, name string, start, end time.Time, o outcome) *otlpSpan {
	if end.Before(start) { // the clock was set back
		end = start
	}
	return &otlpSpan{trace: r.trace, id: id, parent: parent, name: name, flags: sampled | knowsRemote, start: start, end: end, failure: o.describe(),
		attributes: append([]attribute{text("flowrun.run.id", r.id), text("flowrun.tool", r.tool)}, o.attributes()...)}
}

func (r *run) send(s *otlpSpan) { r.out.add(s) }

// spanName returns the name of a step's span: the last part of its path. All items of a
// loop have one name, because traces are grouped and counted by name; an attribute
// identifies the item.
func spanName(path dag.ID) string {
	base := string(path.Base())
	if i := strings.IndexByte(base, '['); i > 0 {
		return base[:i] + "[]"
	}
	return base
}

func stepAttributes(path dag.ID) []attribute {
	list := []attribute{text("flowrun.step", string(path))}
	if base := string(path.Base()); strings.HasSuffix(base, "]") {
		list = append(list, text("flowrun.item", base[strings.LastIndexByte(base, '[')+1:len(base)-1]))
	}
	return list
}

func events(notes []note) []event {
	var list []event
	for _, n := range notes {
		e := event{at: n.at, name: n.what}
		if n.reason != "" {
			e.attributes = []attribute{text("flowrun.reason", n.reason)}
		}
		list = append(list, e)
	}
	return list
}

// maxText is the maximum length of an attribute's text, in bytes: the key of an item can
// have any length.
const maxText = 1024

func text(key, value string) attribute {
	return attribute{key, value[:min(len(value), maxText)]}
}

func number(key string, n int) attribute { return attribute{key, int64(n)} }

func seconds(key string, d time.Duration) attribute { return attribute{key, d.Seconds()} }

func trueValue(key string) attribute { return attribute{key, true} }
