package metrics

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/flowrun/flowrun/internal/observe/measure"
)

// Options configures a Metrics. The zero Options are valid.
type Options = measure.Options

// Metrics is a set of series in one registry. Safe for concurrent use by any number of runs
// and engines.
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
