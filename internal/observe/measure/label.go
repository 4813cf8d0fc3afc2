package measure

import "github.com/flowrun/flowrun/dag"

// appendLabel appends the label of a step to b: the path without attempts and without the
// keys of loops. It is dag.ID.WithoutKeys without allocations. A key is in brackets and
// contains none, but may contain / and #. item reports that the step is an item of a loop.
func appendLabel(b []byte, id dag.ID) (label []byte, item bool) {
	inKey := false
	for i := 0; i < len(id); i++ {
		switch c := id[i]; {
		case inKey:
			inKey = c != ']'
		case c == '[':
			inKey, item = true, true
		case c == '#' && attemptLength(id[i+1:]) > 0:
			i += attemptLength(id[i+1:])
		default:
			item = item && c != '/' // the key belonged to an outer step
			b = append(b, c)
		}
	}
	return b, item
}

// attemptLength returns the length of the attempt number at the end of a path element, or 0.
func attemptLength(rest dag.ID) int {
	n := 0
	for n < len(rest) && '0' <= rest[n] && rest[n] <= '9' {
		n++
	}
	if n < len(rest) && rest[n] != '/' {
		return 0
	}
	return n
}
