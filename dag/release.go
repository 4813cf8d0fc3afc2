package dag

import "errors"

// ErrReleased is returned by Run after Options.Release or Options.Abandon was closed: the
// run has not ended, and another Run can continue it.
var ErrReleased = errors.New("the run was released")

// abandoned reports whether the run is to be released immediately.
func (l *eventLoop) abandoned() bool { return closed(l.options.Abandon) }

// releaseSignal returns the channel that wait receives from; nil after it was closed, since
// it would wake the loop forever.
func (l *eventLoop) releaseSignal() <-chan struct{} {
	if l.released {
		return nil
	}
	return l.options.Release
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
