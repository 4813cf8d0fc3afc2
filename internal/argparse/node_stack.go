package argparse

import "sync"

// shelf is where the members and items of what is still open are kept while they are read,
// and taken from when it closes. It is used again by later readings.
type nodeStack struct{ nodes []node }

var nodeStacks = sync.Pool{New: func() any { return new(nodeStack) }}

// maxKeptNodes bounds a shelf that is kept, in nodes.
const maxKeptNodes = 1 << 19

// put clears a shelf for the next reading.
func (s *nodeStack) put() {
	if cap(s.nodes) <= maxKeptNodes {
		clear(s.nodes)
		s.nodes = s.nodes[:0]
		nodeStacks.Put(s)
	}
}

// take takes the nodes from first on.
func (s *nodeStack) take(first int) []node {
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
