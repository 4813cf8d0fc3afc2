package node

import "sync"

// Stack holds the members and items of open objects and arrays. It is pooled.
type Stack struct{ Nodes []Node }

var nodeStacks = sync.Pool{New: func() any { return new(Stack) }}

// NewStack returns an empty stack.
func NewStack() *Stack { return nodeStacks.Get().(*Stack) }

// maxKeptNodes limits the size of a stack that is returned to the pool.
const maxKeptNodes = 1 << 19

// Put clears the stack and returns it to the pool.
func (s *Stack) Put() {
	if cap(s.Nodes) <= maxKeptNodes {
		clear(s.Nodes)
		s.Nodes = s.Nodes[:0]
		nodeStacks.Put(s)
	}
}

// Take removes the nodes from first on and returns a copy of them.
func (s *Stack) Take(first int) []Node {
	children := s.Nodes[first:]
	if len(children) == 0 {
		return nil
	}
	out := make([]Node, len(children))
	copy(out, children)
	clear(children)
	s.Nodes = s.Nodes[:first]
	return out
}
