package argparse

import "sync"

// shelf is where the members and items of what is still open are kept while they are read,
// and taken from when it closes. It is used again by later readings.
type shelf struct{ nodes []node }

var shelves = sync.Pool{New: func() any { return new(shelf) }}

// mostShelf bounds a shelf that is kept, in nodes.
const mostShelf = 1 << 19

// put clears a shelf for the next reading.
func (s *shelf) put() {
	if cap(s.nodes) <= mostShelf {
		clear(s.nodes)
		s.nodes = s.nodes[:0]
		shelves.Put(s)
	}
}

// take takes the nodes from first on.
func (s *shelf) take(first int) []node {
	kids := s.nodes[first:]
	if len(kids) == 0 {
		return nil
	}
	out := make([]node, len(kids))
	copy(out, kids)
	clear(kids)
	s.nodes = s.nodes[:first]
	return out
}
