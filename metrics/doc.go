// Package metrics counts and measures runs for Prometheus.
//
// # The model
//
// [New] registers one set of series in the registry it is handed, never in the global
// one. Events say in which run something happened, but not of which tool the run is;
// whoever starts a run knows that, and so asks for a sink for it:
//
//	m, err := metrics.New(registry, metrics.Options{Load: engine.Load})
//	run := m.Run(plan.Name())
//	defer run.Close()
//	res, err := engine.Run(ctx, plan, params, flowrun.WithSink(run))
//
// A [Run] turns events into counts. It looks each step's series up once and keeps
// them, so that an event costs one look into a map of its own, a few atomic additions
// and no allocation. One [Metrics] serves any number of runs and engines at once.
//
// # Labels
//
// A step's label is its path without what differs from try to try and from item to
// item: setup#2/test[linux/amd64]/build is setup/test/build (label.go). Items of a loop
// so count under the loop's name; the loop is not counted once more beside them.
//
// Labels are bounded: there are at most Options.Limit tools, and as many pairs of tool
// and step. What comes after these counts as the tool "other" and the step "other", so
// that no set of definitions can fill a Prometheus server.
//
// A step's counters exist from the moment it is first heard of, at zero: increase() in
// a query sees nothing of a counter that begins at one.
//
// # A program's own metrics
//
// A command has no registry to hand in. [Program] holds one, serves it (Handler) and
// writes it for node_exporter's textfile collector (WriteFile); the collectors of the
// process and of the Go runtime are in what it serves. client_golang so stays in this
// package. docs/metrics.md lists every series.
package metrics
