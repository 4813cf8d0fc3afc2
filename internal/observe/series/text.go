package series

import (
	"math"
	"strconv"
	"strings"
)

// WriteText returns families in the text format of Prometheus, version 0.0.4.
func WriteText(families []Family) []byte {
	var b []byte
	for _, f := range families {
		samples := f.Samples()
		if len(samples) == 0 {
			continue
		}
		b = append(b, "# HELP "+f.Name+" "+helpEscapes.Replace(f.Help)+"\n# TYPE "+f.Name+" "+f.Kind.String()+"\n"...)
		for _, s := range samples {
			b = appendSample(b, &f, &s)
		}
	}
	return b
}

var (
	helpEscapes  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	valueEscapes = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

func appendSample(b []byte, f *Family, s *Value) []byte {
	switch f.Kind {
	case KindHistogram:
		h := s.Histogram
		for i, bound := range h.Bounds {
			b = appendLine(b, f, s, "_bucket", "le", bound, float64(h.Counts[i]))
		}
		b = appendLine(b, f, s, "_bucket", "le", math.Inf(1), float64(h.Count))
		return appendTotal(b, f, s, h.Sum, h.Count)
	case KindSummary:
		for i, q := range s.Summary.Of {
			b = appendLine(b, f, s, "", "quantile", q, s.Summary.Value[i])
		}
		return appendTotal(b, f, s, s.Summary.Sum, s.Summary.Count)
	}
	return appendLine(b, f, s, "", "", 0, s.Number)
}

func appendTotal(b []byte, f *Family, s *Value, sum float64, count uint64) []byte {
	b = appendLine(b, f, s, "_sum", "", 0, sum)
	return appendLine(b, f, s, "_count", "", 0, float64(count))
}

// appendLine appends a line. label, if it is not "", comes after the labels of the family.
func appendLine(b []byte, f *Family, s *Value, suffix, label string, labelValue, number float64) []byte {
	b = append(append(b, f.Name...), suffix...)
	sep := byte('{')
	for i, name := range f.Labels {
		b = append(append(append(b, sep), name...), `="`...)
		b = append(append(b, valueEscapes.Replace(s.Labels[i])...), '"')
		sep = ','
	}
	if label != "" {
		b = append(append(append(b, sep), label...), `="`...)
		b = append(appendNumber(b, labelValue), '"')
		sep = ','
	}
	if sep == ',' {
		b = append(b, '}')
	}
	return append(appendNumber(append(b, ' '), number), '\n')
}

func appendNumber(b []byte, v float64) []byte {
	if math.IsInf(v, 1) {
		return append(b, "+Inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}
