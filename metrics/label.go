package metrics

import "github.com/flowrun/flowrun/dag"

// appendLabel appends the label of a step to b: dag.ID.WithoutKeys without its
// allocations, the path without tries and without the keys of loops. A key stands in brackets and
// holds none, but may hold / and #. item says that the step is an item of a loop.
func appendLabel(b []byte, id dag.ID) (label []byte, item bool) {
	inKey := false
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case inKey:
			inKey = c != ']'
		case c == '[':
			inKey, item = true, true
		case c == '#' && try(id[i+1:]) > 0:
			i += try(id[i+1:])
		default:
			item = item && c != '/' // a key further up
			b = append(b, c)
		}
	}
	return b, item
}

// try is the length of a try's number that a path element ends with, else 0.
func try(rest dag.ID) int {
	n := 0
	for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
		n++
	}
	if n < len(rest) && rest[n] != '/' {
		return 0
	}
	return n
}
