package series

import (
	"time"

	"github.com/VictoriaMetrics/easyproto"
)

// WriteProtobuf returns families as messages of type io.prometheus.client.MetricFamily, each after its
// length.
func WriteProtobuf(families []Family) []byte {
	var b []byte
	for _, f := range families {
		var m easyproto.Marshaler
		if samples := f.Samples(); len(samples) > 0 {
			writeFamily(m.MessageMarshaler(), &f, samples)
			b = m.MarshalWithLen(b)
		}
	}
	return b
}

// Metric returns one series of a family as a message of type io.prometheus.client.Metric.
func Metric(f *Family, s *Value) []byte {
	var m easyproto.Marshaler
	writeMetric(m.MessageMarshaler(), f, s)
	return m.Marshal(nil)
}

// The numbers of fields below are those of client_model's metrics.proto.

func writeFamily(m *easyproto.MessageMarshaler, f *Family, samples []Value) {
	m.AppendString(1, f.Name)
	m.AppendString(2, f.Help)
	m.AppendInt32(3, int32(f.Kind))
	for i := range samples {
		writeMetric(m.AppendMessage(4), f, &samples[i])
	}
}

func writeMetric(m *easyproto.MessageMarshaler, f *Family, s *Value) {
	for i, name := range f.Labels {
		pair := m.AppendMessage(1)
		pair.AppendString(1, name)
		pair.AppendString(2, s.Labels[i])
	}
	switch f.Kind {
	case KindCounter:
		c := m.AppendMessage(3)
		c.AppendDouble(1, s.Number)
		writeTime(c, 3, s.Created)
	case KindGauge:
		m.AppendMessage(2).AppendDouble(1, s.Number)
	case KindSummary:
		writeSummary(m.AppendMessage(4), s.Summary)
	case KindHistogram:
		h := m.AppendMessage(7)
		writeHistogram(h, s.Histogram)
		writeTime(h, 15, s.Created)
	}
}

func writeTime(m *easyproto.MessageMarshaler, field uint32, t time.Time) {
	if !t.IsZero() {
		stamp := m.AppendMessage(field)
		stamp.AppendInt64(1, t.Unix())
		stamp.AppendInt32(2, int32(t.Nanosecond()))
	}
}

func writeSummary(m *easyproto.MessageMarshaler, s *Quantiles) {
	m.AppendUint64(1, s.Count)
	m.AppendDouble(2, s.Sum)
	for i, q := range s.Of {
		quantile := m.AppendMessage(3)
		quantile.AppendDouble(1, q)
		quantile.AppendDouble(2, s.Value[i])
	}
}

func writeHistogram(m *easyproto.MessageMarshaler, h *Buckets) {
	m.AppendUint64(1, h.Count)
	m.AppendDouble(2, h.Sum)
	for i, bound := range h.Bounds {
		bucket := m.AppendMessage(3)
		bucket.AppendUint64(1, h.Counts[i])
		bucket.AppendDouble(2, bound)
	}
	m.AppendSint32(5, int32(h.Schema))
	m.AppendDouble(6, nearZero)
	m.AppendUint64(7, h.Zero)
	writeNative(m, h.Native)
}

// span is a group of native buckets without a gap.
type span struct {
	offset int // from the end of the group before it
	length int
}

// writeNative writes native buckets as spans and differences. A gap of one or two buckets is filled
// with empty ones, which takes less space than another span.
func writeNative(m *easyproto.MessageMarshaler, buckets []NativeBucket) {
	var spans []span
	var deltas []int64
	before, next := int64(0), 0
	add := func(count int64) {
		spans[len(spans)-1].length++
		deltas = append(deltas, count-before)
		before = count
	}
	for i, b := range buckets {
		if gap := b.Key - next; i == 0 || gap > 2 {
			spans = append(spans, span{offset: gap})
		} else {
			for range gap {
				add(0)
			}
		}
		add(b.Count)
		next = b.Key + 1
	}
	for _, s := range spans {
		message := m.AppendMessage(12)
		message.AppendSint32(1, int32(s.offset))
		message.AppendUint32(2, uint32(s.length))
	}
	for _, d := range deltas {
		m.AppendSint64(13, d)
	}
}
