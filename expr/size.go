package expr

import (
	"cmp"
	"fmt"
)

// MaxValue is how many bytes a value may have that flowrun puts together: a text with
// references in it, a list, a formatted or transformed value. A value that is only passed
// on may be larger. MaxTogether bounds all values of one command, and all defaults of one
// call.
const (
	MaxValue    = 10 << 20
	MaxTogether = 10 * MaxValue
)

// SizeError says that what a definition puts together would be too large.
type SizeError struct {
	What string
	Max  int // in bytes
}

func (e *SizeError) Error() string {
	return fmt.Sprintf("%s would be larger than %d MiB; pass large values by a file", e.What, e.Max>>20)
}

// sizeTotal adds up the sizes of the values that become one, or one command.
type sizeTotal struct {
	total, values int
	max           int // 0 = MaxValue
}

// add counts a value of n bytes. It is an error if the values are too large together.
func (s *sizeTotal) add(n int, what string) error {
	if n == 0 {
		return nil
	}
	s.total += n
	limit := cmp.Or(s.max, MaxValue)
	if s.values++; s.values > 1 && s.total > limit {
		return &SizeError{what, limit}
	}
	return nil
}

// addAll is add for the words that a value came to.
func (s *sizeTotal) addAll(words []string, what string) error {
	n := 0
	for _, w := range words {
		n += len(w)
	}
	return s.add(n, what)
}

// Size is about how many bytes a value has as text. It stops counting above MaxValue:
// values can share parts, so that a small one in memory is endless when written out.
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

// maxLength stands for a length that no int holds.
const maxLength = 1 << 40

// Length is how long the text becomes, at least, where each reference is as long as of
// says. Choices and transformed references count as empty.
func (t *Template) Length(of func(Ref) int) int {
	n := 0
	for _, p := range t.pieces {
		switch {
		case p.placeholder == nil:
			n += len(p.text)
		case p.placeholder.choice == nil && len(p.placeholder.transforms) == 0:
			n += of(p.placeholder.ref)
		}
		n = min(n, maxLength)
	}
	return n
}
