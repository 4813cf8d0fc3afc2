package series

import (
	"math"
	"sync/atomic"
	"time"
)

// Counter is a number that only grows. Safe for concurrent use.
type Counter struct {
	n       Gauge
	created time.Time
}

// Inc adds one.
func (c *Counter) Inc() { c.n.Add(1) }

// Add adds d, which is not negative.
func (c *Counter) Add(d float64) { c.n.Add(d) }

// NewCounter returns a family of counters with these labels.
func NewCounter(name, help string, labels ...string) *Vec[Counter] {
	return newVec(KindCounter, name, help, labels, func() *Counter { return &Counter{created: time.Now()} },
		func(c *Counter) Value { return Value{Number: c.n.load(), Created: c.created} })
}

// Gauge is a number that can change in both directions. Safe for concurrent use.
type Gauge struct{ bits atomic.Uint64 }

// Set replaces the number.
func (g *Gauge) Set(v float64) { g.bits.Store(math.Float64bits(v)) }

// Add adds d.
func (g *Gauge) Add(d float64) {
	for {
		old := g.bits.Load()
		if g.bits.CompareAndSwap(old, math.Float64bits(math.Float64frombits(old)+d)) {
			return
		}
	}
}

func (g *Gauge) load() float64 { return math.Float64frombits(g.bits.Load()) }

// NewGauge returns a family of gauges with these labels.
func NewGauge(name, help string, labels ...string) *Vec[Gauge] {
	return newVec(KindGauge, name, help, labels, func() *Gauge { return &Gauge{} },
		func(g *Gauge) Value { return Value{Number: g.load()} })
}
