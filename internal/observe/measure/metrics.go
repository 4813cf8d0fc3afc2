package measure

import (
	"cmp"
	"runtime"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/observe/series"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
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

// Metrics is a set of series. Safe for concurrent use by any number of runs and engines.
type Metrics struct {
	registry series.Registry
	families families
	limit    int

	mu    sync.Mutex
	tools map[string]*toolSeries
	steps map[pair]*stepSeries
}

// New creates a Metrics.
func New(o Options) (*Metrics, error) {
	m := &Metrics{families: newFamilies(), limit: o.Limit, tools: map[string]*toolSeries{}, steps: map[pair]*stepSeries{}}
	if m.limit <= 0 {
		m.limit = DefaultLimit
	}
	return m, m.registry.Add(append(m.families.all(), gauges(o)...)...)
}

// Families returns all series of m, sorted by name. It is not a method, because the methods are those of
// the public package.
func Families(m *Metrics) []series.Family { return m.registry.Families() }

// gauges returns the series whose values are read at each scrape.
func gauges(o Options) []series.Family {
	if o.Version == "" {
		o.Version = cmp.Or(buildinfo.Module(), "development")
	}
	list := []series.Family{series.Func(series.KindGauge, "flowrun_build_info", "The version of flowrun; the value is always 1.",
		func() float64 { return 1 }, "goversion", runtime.Version(), "version", o.Version)}
	if o.Load != nil {
		list = append(list,
			series.Func(series.KindGauge, "flowrun_steps_running", "Steps that hold a slot.",
				func() float64 { n, _ := o.Load(); return float64(n) }),
			series.Func(series.KindGauge, "flowrun_steps_queued", "Steps that are ready to run and wait for a slot.",
				func() float64 { _, n := o.Load(); return float64(n) }))
	}
	return list
}

// seconds converts a duration to the unit of Prometheus.
func seconds(d time.Duration) float64 { return max(d, 0).Seconds() }
