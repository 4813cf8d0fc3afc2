package cache

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

const (
	maxUnused  = 30 * 24 * time.Hour // time since the last use after which a result is removed
	pruneEvery = 24 * time.Hour
)

// prune removes, at most once a day, results that have not been used for long: otherwise those of renamed or deleted
// steps would stay forever. What cannot be removed now is removed another day.
func (s *Store) prune() {
	if !s.pruningDue() {
		return
	}
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		switch {
		case e.Name() == placesFolder:
		case e.IsDir():
			st := &Step{store: s, dir: filepath.Join(s.dir, e.Name())}
			st.pruneUnused()
		case isTemp(e.Name()): // left by a killed writer of the key
			if info, err := e.Info(); err == nil && s.now().Sub(info.ModTime()) > abandonedAfter {
				os.Remove(filepath.Join(s.dir, e.Name()))
			}
		}
	}
	s.prunePlaces()
}

// pruningDue reports whether pruning is due, and if so, records that it happens now.
func (s *Store) pruningDue() bool {
	stamp, now := filepath.Join(s.dir, "pruned"), s.now()
	if info, err := os.Stat(stamp); err == nil {
		if age := now.Sub(info.ModTime()); age >= 0 && age < pruneEvery {
			return false
		}
	}
	return errors.Join(os.WriteFile(stamp, nil, 0o600), os.Chtimes(stamp, now, now)) == nil
}

// pruneUnused removes the results of one step that have not been used for long, and its folder if it is empty and not
// recent: another process may just have created it to store a first result.
func (st *Step) pruneUnused() {
	st.Sweep("") // "" matches no directory, because the step is not about to run
	all, err := st.entries()
	if err != nil {
		return
	}
	for _, e := range all {
		if st.store.now().Sub(e.at) > maxUnused {
			st.remove(e.name)
		}
	}
	if info, err := os.Stat(st.dir); err == nil && st.store.now().Sub(info.ModTime()) > abandonedAfter {
		os.Remove(st.dir) // fails while there are files in it
	}
}
