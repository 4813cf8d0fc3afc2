package dag

// scope is what has to end so that a task is stopped. All tasks of a scope are stopped
// together.
type scope struct {
	kind scopeKind
	f    *frame
}

type scopeKind uint8

const (
	wholeRun   scopeKind = iota // only a forced stop ends it
	walking                     // a cancel of the frame ends it, or the end of the scope around the frame
	outlasting                  // for nodes that would also start after a cancel: the end of the cleanup time ends it
	cleaning                    // for nodes that start after a cancel: the end of the cleanup time ends it
)

// scope returns the scope of an attempt of a node that starts now.
func (at place) scope() scope {
	switch f := at.f; {
	case f.def(at.i).Cleanup: // limited by its own policy only: neither a cancel nor an earlier cleanup shortens its time
		return scope{}
	case f.stopped != "":
		return scope{cleaning, f}
	case f.node(at.i).outlasts:
		return scope{outlasting, f}
	default:
		return scope{walking, f}
	}
}
