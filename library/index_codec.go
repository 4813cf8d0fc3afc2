package library

import "encoding/binary"

// indexCodec is a binary codec. The same code encodes and decodes, so that the two directions cannot differ. Encoding
// does not modify the values, which other goroutines may read at the same time. Once invalid is set, because the data
// was cut off or invalid, decoded values are meaningless.
type indexCodec struct {
	data    []byte // the encoded data, or the rest of the data to decode
	source  string // all data to decode; decoded texts are parts of it
	reading bool
	invalid bool
}

// integer encodes n and returns it, or decodes an integer and returns that.
func (t *indexCodec) integer(n int64) int64 {
	if !t.reading {
		t.data = binary.AppendVarint(t.data, n)
		return n
	}
	v, size := binary.Varint(t.data)
	if size <= 0 {
		t.fail()
		return 0
	}
	t.data = t.data[size:]
	return v
}

// fail marks the data as invalid and ends decoding.
func (t *indexCodec) fail() { t.invalid, t.data = true, nil }

func codecInteger[N int | int64 | uint64](t *indexCodec, n *N) {
	if v := t.integer(int64(*n)); t.reading {
		*n = N(v)
	}
}

func (t *indexCodec) flag(b *bool) {
	n := int64(0)
	if *b {
		n = 1
	}
	if n = t.integer(n); t.reading {
		*b = n == 1
	}
}

func (t *indexCodec) text(s *string) {
	n := t.integer(int64(len(*s)))
	switch {
	case !t.reading:
		t.data = append(t.data, *s...)
	case n < 0 || n > int64(len(t.data)):
		t.fail()
	default:
		at := len(t.source) - len(t.data)
		*s, t.data = t.source[at:at+int(n)], t.data[n:]
	}
}

// count encodes or decodes the length of a list; -1 is a nil list. Every element takes at least one byte, so a length
// greater than the rest of the data is invalid.
func (t *indexCodec) count(n int, none bool) int {
	if none {
		n = -1
	}
	v := t.integer(int64(n))
	if t.reading && v > int64(len(t.data)) {
		t.fail()
		return -1
	}
	return int(v)
}

// codecList encodes or decodes a list, element by element.
func codecList[T any](t *indexCodec, list *[]T, one func(*T)) {
	n := t.count(len(*list), *list == nil)
	if t.reading && n >= 0 {
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}
