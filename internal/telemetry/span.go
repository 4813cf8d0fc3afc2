package telemetry

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

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
}

func outcomeOf(r *dag.Result) outcome {
	if r == nil {
		return outcome{}
	}
	return outcome{r.Status, r.Reason, r.ExitCode, r.Attempts, r.Fallback, r.Tolerated}
}

// failed reports whether the span is marked as an error. A cancelled or skipped step is not
// the cause of a failure.
func (o outcome) failed() bool {
	return o.status == dag.Failed || o.status == dag.TimedOut || o.status == dag.Interrupted
}

func (o outcome) describe() *tracepb.Status {
	if !o.failed() {
		return nil
	}
	text := o.status.String()
	switch o.reason {
	case "", text, dag.ReasonTimeout:
	case dag.ReasonExit:
		text += ": exit code " + strconv.Itoa(o.exit)
	default:
		text += ": " + o.reason
	}
	return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: text}
}

// attributes returns the attributes of every span that has ended.
func (o outcome) attributes() []*commonpb.KeyValue {
	list := []*commonpb.KeyValue{text("flowrun.status", o.status.String())}
	if o.reason != "" {
		list = append(list, text("flowrun.reason", o.reason))
	}
	if o.status.Executed() && o.status != dag.Reused {
		list = append(list, number("process.exit.code", o.exit))
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

// runSpan returns the span of the run.
func (r *run) runSpan(end time.Time, o outcome) *tracepb.Span {
	root := &r.steps.Root.Data
	s := r.newSpan(root.attempt.id, root.parent, r.tool, root.start, end, o)
	if root.parent == r.parent.Span && r.parent.Span != [8]byte{} {
		s.Flags |= uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK)
	}
	s.Events = events(root.notes)
	for _, l := range r.links {
		if l.String() != "" {
			s.Links = append(s.Links, &tracepb.Span_Link{TraceId: l.Trace[:], SpanId: l.Span[:], TraceState: l.State})
		}
	}
	return s
}

// stepSpan returns the span of a step.
func (r *run) stepSpan(s *step, end time.Time, o outcome) *tracepb.Span {
	id := s.Data.attempt.id
	if s.Data.attempts > 0 {
		id = stepSpanID(r.id, s)
	}
	p := r.newSpan(id, s.Data.parent, spanName(s.Path), s.Data.start, end, o)
	p.Events = events(s.Data.notes)
	p.Attributes = append(p.Attributes, stepAttributes(s.Path)...)
	if s.Inside != nil && s.Inside.Items > 0 {
		p.Attributes = append(p.Attributes, number("flowrun.items", s.Inside.Items))
	}
	if o.fallback {
		p.Attributes = append(p.Attributes, trueValue("flowrun.fallback"))
	}
	if o.tolerated {
		p.Attributes = append(p.Attributes, trueValue("flowrun.tolerated"))
	}
	switch {
	case s.Data.attempts > 0:
		p.Attributes = append(p.Attributes, number("flowrun.attempts", max(o.attempts, s.Data.attempts)))
	case s.Data.attempt.number > 0:
		p.Attributes = append(p.Attributes, s.Data.attempt.attributes()...)
	}
	return p
}

// stepSpanID returns the span id of a step with more than one attempt.
func stepSpanID(run string, s *step) [8]byte { return spanID(run, s.Path, wholeStep, s.Data.resumed) }

// attemptSpan returns the span of an attempt or a fallback, inside the span of its step.
func (r *run) attemptSpan(s *step, end time.Time, o outcome) *tracepb.Span {
	name := fmt.Sprintf("%s (attempt %s)", spanName(s.Path), s.Data.attempt.label)
	if s.Data.attempt.label == fallback {
		name = spanName(s.Path) + " (fallback)"
	}
	p := r.newSpan(s.Data.attempt.id, stepSpanID(r.id, s), name, s.Data.attempt.start, end, o)
	p.Attributes = append(append(p.Attributes, stepAttributes(s.Path)...), s.Data.attempt.attributes()...)
	if s.Data.attempt.label == fallback {
		p.Attributes = append(p.Attributes, trueValue("flowrun.fallback"))
	}
	return p
}

func (t attempt) attributes() []*commonpb.KeyValue {
	list := []*commonpb.KeyValue{number("flowrun.attempt", t.number)}
	if t.queued > 0 {
		list = append(list, seconds("flowrun.queue_wait", t.queued))
	}
	return list
}

// newSpan returns a span with what all spans have in common.
func (r *run) newSpan(id, parent [8]byte, name string, start, end time.Time, o outcome) *tracepb.Span {
	if end.Before(start) { // the clock was set back
		end = start
	}
	s := &tracepb.Span{TraceId: r.trace.Trace[:], SpanId: id[:], TraceState: r.trace.State, Name: name, Kind: tracepb.Span_SPAN_KIND_INTERNAL,
		Flags:             1 | uint32(tracepb.SpanFlags_SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK),
		StartTimeUnixNano: uint64(start.UnixNano()), EndTimeUnixNano: uint64(end.UnixNano()), Status: o.describe(),
		Attributes: append([]*commonpb.KeyValue{text("flowrun.run.id", r.id), text("flowrun.tool", r.tool)}, o.attributes()...)}
	if parent != [8]byte{} {
		s.ParentSpanId = parent[:]
	}
	return s
}

func (r *run) send(s *tracepb.Span) { r.out.add(s) }

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

func stepAttributes(path dag.ID) []*commonpb.KeyValue {
	list := []*commonpb.KeyValue{text("flowrun.step", string(path))}
	if base := string(path.Base()); strings.HasSuffix(base, "]") {
		list = append(list, text("flowrun.item", base[strings.LastIndexByte(base, '[')+1:len(base)-1]))
	}
	return list
}

func events(notes []note) []*tracepb.Span_Event {
	var list []*tracepb.Span_Event
	for _, n := range notes {
		e := &tracepb.Span_Event{TimeUnixNano: uint64(n.at.UnixNano()), Name: n.what}
		if n.reason != "" {
			e.Attributes = []*commonpb.KeyValue{text("flowrun.reason", n.reason)}
		}
		list = append(list, e)
	}
	return list
}

// maxText is the maximum length of an attribute's text, in bytes: the key of an item can
// have any length.
const maxText = 1024

func text(key, value string) *commonpb.KeyValue {
	if len(value) > maxText {
		value = value[:maxText]
	}
	value = strings.ToValidUTF8(value, "\uFFFD") // protobuf requires UTF-8
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, n int) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(n)}}}
}

func seconds(key string, d time.Duration) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: d.Seconds()}}}
}

func trueValue(key string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}}
}
