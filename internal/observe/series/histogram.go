package series

import (
	"maps"
	"math"
	"slices"
	"sort"
	"sync"
	"time"
)

// Native buckets have bounds that are powers of 2^(2^-schema). A histogram begins with the finest
// schema. If it has more than maxNative buckets, it begins anew, but at most once in minReset, and is
// made coarser until then.
const (
	finest    = 3  // a bucket is 9 % wider than the one below it
	coarsest  = -4 // a bucket is 65,536 times as wide
	maxNative = 100
	minReset  = time.Hour
)

// nearZero is the width of the native bucket at zero, 2^-128.
var nearZero = math.Ldexp(1, -128)

// bounds holds the upper bounds of the native buckets between 0.5 and 1.
var bounds = [1 << finest]float64{0.5, 0.5452538663326288, 0.5946035575013605, 0.6484197773255048,
	0.7071067811865475, 0.7711054127039704, 0.8408964152537144, 0.9170040432046711}

// Histogram counts numbers by size. Safe for concurrent use.
type Histogram struct {
	now func() time.Time

	mu      sync.Mutex
	classic Buckets // cumulative only in a sample
	native  map[int]int64
	created time.Time
	coarser bool // begins anew when minReset has passed
}

// Buckets is the value of a histogram.
type Buckets struct {
	Bounds []float64 // upper bounds of the classic buckets
	Counts []uint64  // cumulative, by classic bucket
	Count  uint64
	Sum    float64

	Schema int // of the native buckets
	Zero   uint64
	Native []NativeBucket // sorted by Key
}

// NativeBucket is a native bucket that is not empty.
type NativeBucket struct {
	Key   int
	Count int64
}

// NewHistogram returns a family of histograms with these labels and upper bounds of classic buckets.
func NewHistogram(name, help string, classic []float64, labels ...string) *Vec[Histogram] {
	return newVec(KindHistogram, name, help, labels, func() *Histogram { return newHistogram(classic, time.Now) }, (*Histogram).value)
}

func newHistogram(classic []float64, now func() time.Time) *Histogram {
	h := &Histogram{now: now, classic: Buckets{Bounds: classic, Counts: make([]uint64, len(classic))}}
	h.reset()
	return h
}

// Observe counts a number that is not negative.
func (h *Histogram) Observe(v float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resetInTime()
	h.add(v)
	switch {
	case len(h.native) <= maxNative:
	case h.now().Sub(h.created) >= minReset:
		h.reset()
		h.add(v)
	default:
		h.coarser = true
		h.widen()
	}
}

func (h *Histogram) add(v float64) {
	c := &h.classic
	c.Count++
	c.Sum += v
	if i := sort.SearchFloat64s(c.Bounds, v); i < len(c.Bounds) {
		c.Counts[i]++
	}
	if v <= nearZero {
		c.Zero++
		return
	}
	frac, exp := math.Frexp(v)
	h.native[scale(sort.SearchFloat64s(bounds[:], frac)+(exp-1)*len(bounds), finest-c.Schema)]++
}

// scale returns the key in a schema that is coarser by steps. A key stands for the upper bound of its
// bucket, so it is rounded up.
func scale(key, steps int) int { return (key + 1<<steps - 1) >> steps }

// widen merges pairs of native buckets.
func (h *Histogram) widen() {
	if h.classic.Schema == coarsest {
		return
	}
	h.classic.Schema--
	fine := h.native
	h.native = map[int]int64{}
	for key, n := range fine {
		h.native[scale(key, 1)] += n
	}
}

// resetInTime resets a histogram that was made coarser, if it may begin anew.
func (h *Histogram) resetInTime() {
	if h.coarser && h.now().Sub(h.created) >= minReset {
		h.reset()
	}
}

func (h *Histogram) reset() {
	clear(h.classic.Counts)
	h.classic = Buckets{Bounds: h.classic.Bounds, Counts: h.classic.Counts, Schema: finest}
	h.native, h.created, h.coarser = map[int]int64{}, h.now(), false
}

func (h *Histogram) value() Value {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resetInTime()
	b := h.classic
	b.Counts = slices.Clone(b.Counts)
	for i := 1; i < len(b.Counts); i++ {
		b.Counts[i] += b.Counts[i-1]
	}
	for _, key := range slices.Sorted(maps.Keys(h.native)) {
		b.Native = append(b.Native, NativeBucket{key, h.native[key]})
	}
	return Value{Histogram: &b, Created: h.created}
}
