package tool

import "encoding/binary"

// tape is a row of values that the same code writes and reads, so that the two cannot
// differ. Writing leaves the values untouched: others may look at them meanwhile. A tape
// that was cut off or holds something else is torn: what is read from it then means
// nothing.
type tape struct {
	data    []byte // what was written, or what is left to read
	reading bool
	torn    bool
}

// whole writes n, or reads and returns another.
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

// tear ends the reading.
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

// count is the length of a list with -1 for none; every element takes a byte at least.
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

// listOn is a list, one by one.
func listOn[T any](t *tape, list *[]T, one func(*T)) {
	n := t.count(len(*list), *list == nil)
	if t.reading && n >= 0 {
		*list = make([]T, n)
	}
	for i := range *list {
		one(&(*list)[i])
	}
}
