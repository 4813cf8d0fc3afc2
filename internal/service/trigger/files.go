package trigger

import (
	"cmp"
	"slices"
	"time"
)

// Change is a file that appeared or changed and has settled.
type Change struct {
	Path  string
	State State
	Late  bool // it happened while no service was watching
}

// At returns when the file appeared or changed.
func (c Change) At() time.Time { return c.State.since() }

// Files watches the files of one entry. The zero value is not ready; use NewFiles.
type Files struct {
	settle  time.Duration
	since   time.Time
	known   map[string]State
	pending map[string]pending
	stepped bool
}

// pending is a version of a file that has not settled.
type pending struct {
	State
	seen time.Time
	late bool
}

// clockLag is how far the clock of files may be behind the clock that since is read from: Linux stamps files with the
// time of the last timer interrupt, which is up to 10 ms ago, and longer on a busy virtual machine.
const clockLag = 100 * time.Millisecond

// NewFiles returns a watcher. Files that have not changed since then are not events, except for those that changed
// less than clockLag before: they may have changed after it.
func NewFiles(settle time.Duration, since time.Time) *Files {
	return &Files{settle: settle, since: since.Add(-clockLag), known: map[string]State{}, pending: map[string]pending{}}
}

// onTime is the age up to which a change that the first Step finds is not late: a service that is restarted was not down.
const onTime = 10 * time.Second

// Step takes a new Scan and returns the changes that have settled, oldest first.
func (f *Files) Step(now time.Time, scan map[string]State) (settled []Change) {
	for path := range f.known {
		if _, there := scan[path]; !there {
			delete(f.known, path)
		}
	}
	for path := range f.pending {
		if _, there := scan[path]; !there {
			delete(f.pending, path)
		}
	}
	for path, s := range scan {
		if f.isKnown(path, s) {
			continue
		}
		p, there := f.pending[path]
		if !there || !p.sameVersion(s) {
			p = pending{State: s, seen: now, late: !f.stepped && now.Sub(s.since()) > onTime}
			f.pending[path] = p
		}
		if now.Sub(p.seen) >= f.settle {
			settled = append(settled, Change{path, s, p.late})
			delete(f.pending, path)
			f.known[path] = s
		}
	}
	f.stepped = true
	slices.SortFunc(settled, func(a, b Change) int {
		return cmp.Or(a.At().Compare(b.At()), cmp.Compare(a.Path, b.Path))
	})
	return settled
}

// isKnown reports whether this version of the file is not an event. The files that were there before f.since become
// known when they are first seen; later, only a file that was put there before counts as one of them, for example one of
// a file system that was mounted again.
func (f *Files) isKnown(path string, s State) bool {
	if k, ok := f.known[path]; ok {
		if k.sameVersion(s) {
			return true
		}
		delete(f.known, path)
		return false
	}
	if _, ok := f.pending[path]; ok {
		return false
	}
	if f.stepped && s.Changed == 0 || s.since().After(f.since) {
		return false
	}
	f.known[path] = s
	return true
}

// Cursor returns the time up to which all changes have been returned by Step. A watcher that starts from it misses
// none, but may return some again.
func (f *Files) Cursor(now time.Time) time.Time {
	const slack = 2 * time.Second // clocks of file systems are coarse
	at := now.Add(-slack)
	for _, p := range f.pending {
		if t := p.since().Add(-time.Nanosecond); t.Before(at) {
			at = t
		}
	}
	return at
}
