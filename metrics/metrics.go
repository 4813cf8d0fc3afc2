package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/flowrun/flowrun/internal/observe/measure"
)

// DefaultLimit is the default of Options.Limit.
const DefaultLimit = measure.DefaultLimit

// Other is the label of tools and steps beyond Options.Limit.
const Other = measure.Other

// Options configures a Metrics. The zero Options are valid.
type Options = measure.Options

// Metrics is a set of series in one registry. Safe for concurrent use by any number of runs
// and engines.
type Metrics = measure.Metrics

// Run measures one run: it is a dag.Sink for that run only. Only the goroutine that owns
// the run may use it.
type Run = measure.Run

// Program is the Metrics of a program that has no registry of its own.
type Program = measure.Program

// Service holds the series of a service: of all runs of its state directory, and of its
// schedules. Safe for concurrent use.
type Service = measure.Service

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

// NewProgram creates a Metrics in a new registry.
func NewProgram(o Options) (*Program, error) { return measure.NewProgram(o) }
