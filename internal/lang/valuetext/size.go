package valuetext

import (
	"cmp"
	"fmt"
)

// MaxValue is the maximum size in bytes of a value that flowrun puts together: a text with references
// in it, a list, a formatted or transformed value. A value that is only passed on may be larger.
// MaxTogether is the maximum for all values of one command together, and for all defaults of one
// call.
const (
	MaxValue    = 10 << 20
	MaxTogether = 10 * MaxValue
)

// SizeError reports that a value which a definition puts together would be too large.
type SizeError struct {
	What string
	Max  int // in bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s would be larger than %d MiB; pass large values in a file", e.What, e.Max>>20)
}

// Total adds up the sizes of values that become one value, or one command.
type Total struct {
	total, values int
	Max           int // in bytes; 0 = MaxValue
}

// Add counts a value of n bytes. It fails if several values are too large together. A single value may
// have any size.
func (s *Total) Add(n int, what string) error {
	if n == 0 {
		return nil
	}
	s.total += n
	limit := cmp.Or(s.Max, MaxValue)
	if s.values++; s.values > 1 && s.total > limit {
		return &SizeError{what, limit}
	}
	return nil
}

// AddAll counts the words of one value, as add does.
func (s *Total) AddAll(words []string, what string) error {
	n := 0
	for _, w := range words {
		n += len(w)
	}
	return s.Add(n, what)
}

// Size returns about how many bytes a value has as text. It stops counting above MaxValue: values can
// share parts, so a value that is small in memory can be endless as text.
func Size(v any) int {
	n := 0
	addSize(v, &n)
	return n
}

func addSize(v any, n *int) {
	if *n > MaxValue {
		return
	}
	*n++
	switch v := v.(type) {
	case string:
		*n += len(v)
	case []any:
		for _, e := range v {
			addSize(e, n)
		}
	case map[string]any:
		for k, e := range v {
			*n += len(k)
			addSize(e, n)
		}
	default:
		*n += 8
	}
}
