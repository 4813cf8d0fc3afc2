package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"google.golang.org/protobuf/proto"

	"github.com/flowrun/flowrun/internal/observe/measure"
	"github.com/flowrun/flowrun/internal/observe/series"
)

// collector offers the series of a Metrics to a registry of client_golang.
type collector struct {
	families     []series.Family
	descriptions []*prometheus.Desc
}

func newCollector(m *measure.Metrics) *collector {
	c := &collector{families: measure.Families(m)}
	for _, f := range c.families {
		c.descriptions = append(c.descriptions, prometheus.NewDesc(f.Name, f.Help, f.Labels, nil))
	}
	return c
}

// Describe sends what identifies the families.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range c.descriptions {
		out <- d
	}
}

// Collect sends all series.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	for i := range c.families {
		f := &c.families[i]
		for _, s := range f.Samples() {
			out <- metric{c.descriptions[i], f, s}
		}
	}
}

// metric is a series at one moment.
type metric struct {
	description *prometheus.Desc
	family      *series.Family
	value       series.Value
}

// Desc identifies the family.
func (m metric) Desc() *prometheus.Desc { return m.description }

// Write copies the series into out.
func (m metric) Write(out *dto.Metric) error {
	return proto.Unmarshal(series.Metric(m.family, &m.value), out)
}
