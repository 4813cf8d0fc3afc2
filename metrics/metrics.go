package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/flowrun/flowrun/internal/observe/measure"
)

// Options configures a Metrics. The zero Options are valid.
//
//	type Options struct {
//		// Load returns how many steps run and how many wait for a slot; flowrun.Engine.Load has
//		// this type. It is called at every scrape, from any goroutine. nil: the two series are
//		// missing.
//		Load func() (running, queued int)
//		// Limit is the maximum number of tools, and of pairs of tool and step, that have their
//		// own series. 0 is DefaultLimit.
//		Limit int
//		// Version is the label of flowrun_build_info. "" is the version of flowrun in the
//		// program's build information.
//		Version string
//	}
type Options = measure.Options

// Metrics is a set of series in one registry. Safe for concurrent use by any number of runs
// and engines.
//
//	type Metrics struct {
//		// contains filtered or unexported fields
//	}
//
//	// Journal wraps a run's journal and measures its time.
//	func (m *Metrics) Journal(j dag.Journal) dag.Journal
//
//	// Observe is a flowrun.Observer: among Config.Observers of an Engine it counts all runs of the Engine.
//	func (m *Metrics) Observe(run history.ObservedRun) (dag.Sink, func())
//
//	// Run creates a sink for one run of a tool.
//	func (m *Metrics) Run(tool string) *Run
//
//	// Succeeded sets the time of the last successful run of a tool, for runs without a Run, such as those of an earlier process.
//	func (m *Metrics) Succeeded(tool string, at time.Time)
type Metrics = measure.Metrics

// New creates a Metrics and registers its series in reg. It fails if the registry already
// has series of these names: one Metrics serves all engines of a program.
func New(reg prometheus.Registerer, o Options) (*Metrics, error) {
	m, err := measure.New(o)
	if err != nil {
		return nil, err
	}
	if err := reg.Register(newCollector(m)); err != nil {
		return nil, fmt.Errorf("cannot register flowrun's metrics: %w; create one Metrics for each registry and use it for all engines", err)
	}
	return m, nil
}
