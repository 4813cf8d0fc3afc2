// Package telemetry tells OpenTelemetry of runs: it makes spans of their events and
// sends them to a collector.
//
// # The model
//
// [Read] takes the standard OTEL_ variables; without an endpoint there is nothing to
// send to. A [Tracer] is a sink for all runs of an engine, and makes of each a trace:
//
//	deploy                      the run
//	├─ build                    a step that had to be tried twice
//	│  ├─ build (attempt 1)
//	│  └─ build (attempt 2)
//	├─ setup                    a nested tool, or a group
//	│  └─ clone
//	└─ test                     a loop
//	   ├─ test[]                one span an item; flowrun.item says which
//	   └─ test[]
//
// A step that was tried once is one span. One that was tried several times, or has run
// its fallback, has a span for each of these inside its own; what a try of a nested
// tool ran is inside the span of that try.
//
// # Ids
//
// Ids are sums (context.go): the trace's is one of the run's id, a try's one of run,
// path and number. So nothing has to be kept for a run that is taken up again by another
// process: its spans join the trace, below spans that another process began. What runs
// anew there, because its result counts no more, would have the id of what it did
// before; the number of the event run.resumed goes into the sum as well.
//
// What is known of a run is a fold over events, as everything that knows of runs. For a run that is
// taken up, the events on record are folded in first, and nothing is sent of them.
//
// # What is never told
//
// Spans hold names, states, numbers and the kernel's stable words. They hold no output,
// no parameter, and no message of a result, which may quote either.
//
// # Sending
//
// A span is handed to a queue with a bound (export.go) and sent by one goroutine, so
// that a collector that is slow, broken or gone never delays a run. What does not fit is
// dropped. Warn is told once of each.
//
// The wire form's own types are used, OTLP's protobuf messages, and not the SDK: its
// batches drop spans without a word, its ids and its clock would have to be
// replaced, and with its HTTP exporter, which brings gRPC, the program would be a fifth
// larger than it is. docs/telemetry.md is the page for users.
package telemetry
