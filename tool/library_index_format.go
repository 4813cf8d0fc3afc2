package tool

import "encoding/binary"

// tape is a binary codec. The same code encodes and decodes, so that the two directions cannot differ. Encoding does
// not modify the values, which other goroutines may read at the same time. Once torn is set, because the data was cut
// off or invalid, decoded values are meaningless.
type tape struct {
	data    []byte // the encoded data, or the rest of the data to decode
	reading bool
	torn    bool
}

// whole encodes n and returns it, or decodes an integer and returns that.
func (t *tape) whole(n int64) int64 {
	if !t.reading {
		t.data = binary.AppendVarint(t.data, n)
		return n
	}
	v, size := binary.Varint(t.data)
	if size <= 0 {
		t.tear()
		return 0
	}
	t.data = t.data[size:]
	return v
}

// tear marks the data as invalid and ends decoding.
func (t *tape) tear() { t.torn, t.data = true, nil }

func integral[N int | int64 | uint64](t *tape, n *N) {
	if v := t.whole(int64(*n)); t.reading {
		*n = N(v)
	}
}

func (t *tape) flag(b *bool) {
	n := int64(0)
	if *b {
		n = 1
	}
	if n = t.whole(n); t.reading {
		*b = n == 1
	}
}

func (t *tape) text(s *string) {
	n := t.whole(int64(len(*s)))
	switch {
	case !t.reading:
		t.data = append(t.data, *s...)
	case n < 0 || n > int64(len(t.data)):
		t.tear()
	default:
		*s, t.data = string(t.data[:n]), t.data[n:]
	}
}

// count encodes or decodes the length of a list; -1 is a nil list. Every element takes at least one byte, so a length
// greater than the rest of the data is invalid.
func (t *tape) count(n int, none bool) int {
	if none {
		n = -1
	}
	v := t.whole(int64(n))
	if t.reading && v > int64(len(t.data)) {
		t.tear()
		return -1
	}
	return int(v)
}

// listOn encodes or decodes a list, element by element.
func listOn[T any](t *tape, list *[]T, one func(*T)) {
	n := t.count(len(*list), *list == nil)
	if t.reading && n >= 0 {
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}
