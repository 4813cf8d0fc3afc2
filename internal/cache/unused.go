package cache

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

const (
	unused     = 30 * 24 * time.Hour // since its last use: from then on a result goes
	pruneEvery = 24 * time.Hour
)

// prune takes away, at most once a day, what nobody has used for long: the results of
// steps that were renamed or deleted would stay for ever otherwise. What cannot be
// removed now is removed another day.
func (s *Store) prune() {
	if !s.prunedLongAgo() {
		return
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		switch {
		case e.IsDir():
			st := &Step{store: s, dir: filepath.Join(s.dir, e.Name())}
			st.pruneUnused()
		case isTemp(e.Name()): // of a killed writer of the key
			if info, err := e.Info(); err == nil && s.now().Sub(info.ModTime()) > abandoned {
				os.Remove(filepath.Join(s.dir, e.Name()))
			}
		}
	}
}

// prunedLongAgo says whether it is time, and notes that it is done now.
func (s *Store) prunedLongAgo() bool {
	stamp, now := filepath.Join(s.dir, "pruned"), s.now()
	if info, err := os.Stat(stamp); err == nil {
		if age := now.Sub(info.ModTime()); age >= 0 && age < pruneEvery {
			return false
		}
	}
	return errors.Join(os.WriteFile(stamp, nil, 0o600), os.Chtimes(stamp, now, now)) == nil
}

// pruneUnused takes away the results of one step that nobody has used for long, and
// its folder when there was nothing in it for a while: another process may just have
// made it, to keep a first result in it.
func (st *Step) pruneUnused() {
	st.Sweep("") // in no directory: the step does not run
	all, err := st.entries()
	if err != nil {
		return
	}
	for _, e := range all {
		if st.store.now().Sub(e.at) > unused {
			st.remove(e.name)
		}
	}
	if info, err := os.Stat(st.dir); err == nil && st.store.now().Sub(info.ModTime()) > abandoned {
		os.Remove(st.dir) // refused while something is in it
	}
}
