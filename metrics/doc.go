// Package metrics counts and measures runs for Prometheus.
//
// # The model
//
// [New] registers one set of series in the registry that you pass, never in the global one.
// An engine that has its Observe among its Observers counts all its runs:
//
//	m, err := metrics.New(registry, metrics.Options{})
//	engine := flowrun.New(flowrun.Config{Observers: []flowrun.Observer{m.Observe}})
//
// An event names its run but not the tool of the run, so each run has a sink of its own.
// It turns events into counts. It looks up the series of each step once and keeps
// them, so that an event costs one map lookup, a few atomic additions and no allocation. One
// [Metrics] serves any number of runs and engines.
//
// # Labels
//
// The label of a step is its path without attempts and items:
// setup#2/test[linux/amd64]/build is setup/test/build. Items of a loop are
// counted under the name of the loop; the loop itself is not counted in addition.
//
// The number of labels is bounded by Options.Limit: at most so many tools, and at most so
// many pairs of tool and step. All others count as the tool "other" and the step "other", so
// that no set of definitions can overload a Prometheus server.
//
// The counters of a step start at zero with its first event: increase() in a query does not
// see the increment of a counter that starts at one.
//
// docs/reference/metrics.md lists every series.
//
// The work is done in internal/observe/measure. This package adds what needs client_golang, and no other
// package imports that library.
package metrics
