package series

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Kind is the type of a family. Its value is that of the protobuf message.
type Kind int

// The kinds of families.
const (
	KindCounter   Kind = 0
	KindGauge     Kind = 1
	KindSummary   Kind = 2
	KindHistogram Kind = 4
)

// String returns the name of the text format.
func (k Kind) String() string {
	return map[Kind]string{KindCounter: "counter", KindGauge: "gauge", KindSummary: "summary", KindHistogram: "histogram"}[k]
}

// Family describes all series of one name.
type Family struct {
	Name, Help string
	Kind       Kind
	Labels     []string       // sorted
	Samples    func() []Value // the series at this moment, sorted by the values of their labels
}

// Value is a series at one moment.
type Value struct {
	Labels    []string  // the values, in the order of Family.Labels
	Number    float64   // of counters and gauges
	Created   time.Time // of counters and histograms; may be zero
	Histogram *Buckets
	Summary   *Quantiles
}

// Quantiles is the value of a summary.
type Quantiles struct {
	Of    []float64 // 0 to 1
	Value []float64
	Count uint64
	Sum   float64
}

// Registry is a set of families. The zero Registry is empty. Safe for concurrent use.
type Registry struct {
	mu       sync.Mutex
	families []Family // sorted by name
}

// Add adds families. It fails, and adds none, if one of these names is taken.
func (r *Registry) Add(list ...Family) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := slices.Clone(r.families)
	for _, f := range list {
		i, taken := slices.BinarySearchFunc(all, f.Name, func(f Family, name string) int { return strings.Compare(f.Name, name) })
		if taken {
			return fmt.Errorf("there are already series named %s", f.Name)
		}
		all = slices.Insert(all, i, f)
	}
	r.families = all
	return nil
}

// Families returns the families, sorted by name.
func (r *Registry) Families() []Family {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.families
}

// Func returns a family with one series, whose value f returns. values are pairs of a label and its
// value, sorted by label.
func Func(kind Kind, name, help string, f func() float64, values ...string) Family {
	var labels, of []string
	for i := 0; i < len(values); i += 2 {
		labels, of = append(labels, values[i]), append(of, values[i+1])
	}
	return Family{Name: name, Help: help, Kind: kind, Labels: labels, Samples: func() []Value { return []Value{{Labels: of, Number: f()}} }}
}

// Vec is a family of series that differ in the values of their labels.
type Vec[T any] struct {
	family Family
	order  []int // order[i] is the place of sorted label i among the values given to With
	create func() *T
	sample func(*T) Value

	mu     sync.Mutex
	series map[string]entry[T]
}

type entry[T any] struct {
	values []string // sorted by label
	series *T
}

func newVec[T any](kind Kind, name, help string, labels []string, create func() *T, sample func(*T) Value) *Vec[T] {
	v := &Vec[T]{create: create, sample: sample, series: map[string]entry[T]{}}
	for i := range labels {
		v.order = append(v.order, i)
	}
	slices.SortFunc(v.order, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	v.family = Family{Name: name, Help: help, Kind: kind, Samples: v.samples}
	for _, i := range v.order {
		v.family.Labels = append(v.family.Labels, labels[i])
	}
	if len(labels) == 0 {
		v.With() // the only series exists from the beginning
	}
	return v
}

// Family returns the family, to add it to a Registry.
func (v *Vec[T]) Family() Family { return v.family }

// With returns the series of these values, in the order in which the labels were given. It creates the
// series if it is new.
func (v *Vec[T]) With(values ...string) *T {
	key := strings.Join(values, "\xff")
	v.mu.Lock()
	defer v.mu.Unlock()
	e, known := v.series[key]
	if !known {
		e.series = v.create()
		for _, i := range v.order {
			e.values = append(e.values, strings.ToValidUTF8(values[i], "\uFFFD"))
		}
		v.series[key] = e
	}
	return e.series
}

func (v *Vec[T]) samples() []Value {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := make([]Value, 0, len(v.series))
	for _, e := range v.series {
		s := v.sample(e.series)
		s.Labels = e.values
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Value) int { return slices.Compare(a.Labels, b.Labels) })
	return list
}
