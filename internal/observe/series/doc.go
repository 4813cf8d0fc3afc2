// Package series counts and measures, and writes the numbers in the formats of Prometheus.
//
// A [Registry] holds families: all series of one name. A program creates them once with Counter, Gauge,
// Histogram and Func, and asks them for the series of some label values, which it keeps: a change of a
// series is an atomic addition, or for a histogram some additions under a lock, and never an allocation.
//
// [Handler] serves registries as text, and as protobuf to servers that request it: only that has the
// native buckets of histograms. [WriteText] writes the text. Runtime returns the families of the Go
// runtime and of the process that Prometheus programs usually have, with the usual names.
//
// Package flowrun/metrics offers the same families to programs that use client_golang. The flowrun
// command does not use that library: its initialization, with that of procfs and of protobuf, was an
// eighth of the time of a short command.
package series
