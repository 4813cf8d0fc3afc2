package metrics

import (
	"cmp"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/flowrun/flowrun/internal/buildinfo"
)

// DefaultLimit is the default of Options.Limit.
const DefaultLimit = 1000

// Other is the label of tools and steps beyond Options.Limit.
const Other = "other"

// Options configures a Metrics. The zero Options are valid.
type Options struct {
	// Load returns how many steps run and how many wait for a slot; flowrun.Engine.Load has
	// this type. It is called at every scrape, from any goroutine. nil: the two series are
	// missing.
	Load func() (running, queued int)
	// Limit is the maximum number of tools, and of pairs of tool and step, that have their
	// own series. 0 is DefaultLimit.
	Limit int
	// Version is the label of flowrun_build_info. "" is the version of flowrun in the
	// program's build information.
	Version string
}

// Metrics is a set of series in one registry. Safe for concurrent use by any number of runs
// and engines.
type Metrics struct {
	families families
	limit    int

	mu    sync.Mutex
	tools map[string]*toolSeries
	steps map[pair]*stepSeries
}

// New creates a Metrics and registers its series in reg. It fails if the registry already
// has series of these names: one Metrics serves all engines of a program.
func New(reg prometheus.Registerer, o Options) (*Metrics, error) {
	m := &Metrics{families: newFamilies(), limit: o.Limit, tools: map[string]*toolSeries{}, steps: map[pair]*stepSeries{}}
	if m.limit <= 0 {
		m.limit = DefaultLimit
	}
	for _, c := range append(m.families.all(), gauges(o)...) {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("cannot register flowrun's metrics: %w; create one Metrics for each registry and use it for all engines", err)
		}
	}
	return m, nil
}

// gauges returns the series whose values are read at each scrape.
func gauges(o Options) []prometheus.Collector {
	if o.Version == "" {
		o.Version = cmp.Or(buildinfo.Module(), "development")
	}
	info := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "flowrun_build_info", Help: "The version of flowrun; the value is always 1.",
		ConstLabels: prometheus.Labels{"version": o.Version, "goversion": runtime.Version()},
	}, func() float64 { return 1 })
	if o.Load == nil {
		return []prometheus.Collector{info}
	}
	return []prometheus.Collector{info,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "flowrun_steps_running", Help: "Steps that hold a slot."},
			func() float64 { n, _ := o.Load(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "flowrun_steps_queued", Help: "Steps that are ready to run and wait for a slot."},
			func() float64 { _, n := o.Load(); return float64(n) }),
	}
}

// seconds converts a duration to the unit of Prometheus.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
