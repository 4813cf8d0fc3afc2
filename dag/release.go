package dag

import "errors"

// ErrReleased is Run's answer when it has let the run go: the run has not ended, and
// another Run may carry it on.
var ErrReleased = errors.New("the run was released")

// releasing says that the run is to be let go as soon as nothing runs: no leaf may
// start. A run that is being cancelled is brought to its end first, or what it has
// begun to undo would be done again.
func (l *eventLoop) releasing() bool {
	if !l.released {
		l.released = closed(l.options.Release)
	}
	return l.released && l.state.root.stopped == ""
}

// abandoned says that the run is to be let go at once.
func (l *eventLoop) abandoned() bool { return closed(l.options.Abandon) }

// releaseSignal is what wait listens to: what was heard once is not news.
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
