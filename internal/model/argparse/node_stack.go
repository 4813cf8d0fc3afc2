package argparse

import "sync"

// nodeStack holds the members and items of open objects and arrays. It is pooled.
type nodeStack struct{ nodes []node }

var nodeStacks = sync.Pool{New: func() any { return new(nodeStack) }}

// newNodeStack returns an empty stack.
func newNodeStack() *nodeStack { return nodeStacks.Get().(*nodeStack) }

// maxKeptNodes limits the size of a stack that is returned to the pool.
const maxKeptNodes = 1 << 19

// put clears the stack and returns it to the pool.
func (s *nodeStack) put() {
	if cap(s.nodes) <= maxKeptNodes {
		clear(s.nodes)
		s.nodes = s.nodes[:0]
		nodeStacks.Put(s)
	}
}

// take removes the nodes from first on and returns a copy of them.
func (s *nodeStack) take(first int) []node {
	children := s.nodes[first:]
	if len(children) == 0 {
		return nil
	}
	out := make([]node, len(children))
	copy(out, children)
	clear(children)
	s.nodes = s.nodes[:first]
	return out
}
