package jsregexp

import (
	"slices"
	"strings"
	"unicode"
)

// Set is a set of code points: ranges in their order, which neither overlap nor touch.
type Set []Range

// Range has the first and the last code point of a range.
type Range struct{ From, To rune }

// maxRune is the last code point.
const maxRune = unicode.MaxRune

// newSet returns the set of the code points in any of the ranges.
func newSet(ranges []Range) Set {
	slices.SortFunc(ranges, func(a, b Range) int { return int(a.From - b.From) })
	var s Set
	for _, r := range ranges {
		if n := len(s); n > 0 && r.From <= s[n-1].To+1 {
			s[n-1].To = max(s[n-1].To, r.To)
			continue
		}
		s = append(s, r)
	}
	return s
}

// union returns what is in either set.
func (s Set) union(o Set) Set { return newSet(slices.Concat(s, o)) }

// complement returns what is not in the set.
func (s Set) complement() Set {
	var out Set
	next := rune(0)
	for _, r := range s {
		if r.From > next {
			out = append(out, Range{next, r.From - 1})
		}
		next = r.To + 1
	}
	if next <= maxRune {
		out = append(out, Range{next, maxRune})
	}
	return out
}

// intersect returns what is in both sets.
func (s Set) intersect(o Set) Set { return s.complement().union(o.complement()).complement() }

// Has reports whether the set has a code point.
func (s Set) Has(c rune) bool {
	i, found := slices.BinarySearchFunc(s, c, func(r Range, c rune) int { return int(r.From - c) })
	return found || i > 0 && c <= s[i-1].To
}

// folded returns the set with all code points that differ from one of it only in case.
func (s Set) folded() Set {
	list := slices.Clone(s)
	for _, r := range s {
		for c := r.From; c <= r.To; c++ {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				list = append(list, Range{f, f})
			}
		}
	}
	return newSet(list)
}

// surrogates are no characters of a Go string.
var surrogates = Set{{0xd800, 0xdfff}}

// ranges returns the set as it is written in a class.
func (s Set) ranges() string {
	var b strings.Builder
	for _, r := range s.intersect(surrogates.complement()) {
		writeRune(&b, r.From)
		if r.To > r.From {
			if r.To > r.From+1 {
				b.WriteByte('-')
			}
			writeRune(&b, r.To)
		}
	}
	return b.String()
}

// class returns the set as a class.
func (s Set) class() string {
	if text := s.ranges(); text != "" {
		return "[" + text + "]"
	}
	return `[^\x00-` + string(maxRune) + "]"
}

func writeRune(b *strings.Builder, c rune) {
	const digits = "0123456789abcdef"
	switch {
	case c < ' ' || c == 0x7f:
		b.WriteString(`\x`)
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
		return
	case strings.ContainsRune(`\]^-[`, c):
		b.WriteByte('\\')
	}
	b.WriteRune(c)
}
