// Package telemetry exports runs to OpenTelemetry: it makes spans from their events and
// sends them to a collector.
//
// # The model
//
// [Read] reads the standard OTEL_ variables; without an endpoint nothing is sent. A
// [Tracer] is an observer of all runs of an engine, and makes a trace of each:
//
//	deploy                      the run
//	├─ build                    a step with two attempts
//	│  ├─ build (attempt 1)
//	│  └─ build (attempt 2)
//	├─ setup                    a nested tool, or a group
//	│  └─ clone
//	└─ test                     a loop
//	   ├─ test[]                one span an item; flowrun.item identifies it
//	   └─ test[]
//
// A step with one attempt is one span. A step with several attempts, or with a fallback, has
// a span for each of these inside its own. Steps that an attempt of a nested tool ran are
// inside the span of that attempt.
//
// # Ids
//
// Ids are digests (context.go): the trace id of the run's id, the span id of an attempt of
// run, path and number. Therefore nothing has to be stored for a run that another process
// resumes: its spans join the trace, below spans that the other process started. A step that
// runs again because its result was reset would get the id of its earlier span; so the number
// of the event run.resumed is part of the digest too.
//
// The state of a run is a fold over events, as everywhere in flowrun. For a resumed run, the
// recorded events are folded in first, and no spans of them are sent.
//
// # What is never sent
//
// Spans contain names, statuses, numbers and the fixed words for reasons. They contain no
// output, no parameter, and no message of a result, which may quote either.
//
// # Sending
//
// Spans go to a bounded queue (export.go) and are sent by one goroutine, so that a slow,
// broken or missing collector never delays a run. Spans that do not fit are dropped. Warn is
// called for the first loss only.
//
// The package writes the few protobuf messages of OTLP that it needs itself (otlp.go). The
// generated messages cost every command 0.3 ms, because they are registered before main, and the
// OpenTelemetry SDK more: its batches also drop spans silently, its ids and its clock would have
// to be replaced, and with its HTTP exporter, which brings gRPC, the program would be larger by a
// fifth.
// docs/reference/telemetry.md is the page for users.
package telemetry
