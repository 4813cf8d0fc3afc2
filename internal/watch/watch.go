// Package watch notices that files change: it looks at them again and again.
//
// A Set says which files: some by name, some by pattern. Take makes a Snapshot of them,
// and Wait compares until it differs and then holds still, so that an editor that writes
// a new file and renames it, or a checkout that touches a thousand, counts once.
//
// Looking costs a stat a file, a few times a second. Notifications of the operating
// system would cost less and need more: they are bound to folders that exist, stay
// silent on network and container file systems, have limits a repository can exceed, and
// differ on every system. A Set that is large is looked at less often, so that looking
// never takes more than about a tenth of a CPU.
package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/cache"
)

// Set is what is watched.
type Set struct {
	// Files are paths. One that is not there is watched for coming.
	Files []string
	// Patterns are of files, as in cache.inputs; a folder stands for what is below it.
	Patterns []string
	// Exclude are patterns of files that do not count, as those that a run makes.
	Exclude []string
	// SkipFolders are folders that are not looked into, besides those of version control.
	SkipFolders []string
}

// Check says why a text cannot be a pattern.
func Check(pattern string) error {
	_, _, err := cache.Base(pattern)
	return err
}

// fileState tells one state of a file from another.
type fileState struct {
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

// Snapshot is how the files of a Set were at a time.
type Snapshot map[string]fileState

// Take looks at the files. What cannot be looked at is not there.
func (s *Set) Take() Snapshot {
	snap := Snapshot{}
	for _, file := range s.Files {
		if info, err := os.Stat(file); err == nil {
			snap.add(file, info)
		}
	}
	for _, p := range s.Patterns {
		s.find(snap, p)
	}
	return snap
}

func (snap Snapshot) add(path string, info fs.FileInfo) {
	snap[path] = fileState{info.Size(), info.Mode(), info.ModTime()}
}

// versionControl are folders that change without anything changing.
var versionControl = []string{".git", ".hg", ".jj", ".svn"}

func (s *Set) find(snap Snapshot, pattern string) {
	folder, rest, err := cache.Base(pattern)
	if err != nil {
		return
	}
	root := filepath.FromSlash(folder)
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what comes and goes meanwhile
		}
		if d.IsDir() {
			if path != root && slices.Contains(versionControl, d.Name()) || slices.ContainsFunc(s.SkipFolders, func(skip string) bool { return samePath(path, skip) }) {
				return filepath.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil || !cache.Covers(rest, filepath.ToSlash(rel)) || s.excluded(path) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			snap.add(path, info)
		}
		return nil
	})
}

func (s *Set) excluded(path string) bool {
	return slices.ContainsFunc(s.Exclude, func(p string) bool { return cache.Covers(filepath.ToSlash(p), filepath.ToSlash(path)) })
}

// samePath says whether two paths are written the same from the working directory.
func samePath(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

// Changed are the paths that differ between two Snapshots, sorted.
func (snap Snapshot) Changed(now Snapshot) []string {
	var list []string
	for path, s := range snap {
		if t, ok := now[path]; !ok || s.size != t.size || s.mode != t.mode || !s.mtime.Equal(t.mtime) {
			list = append(list, path)
		}
	}
	for path := range now {
		if _, ok := snap[path]; !ok {
			list = append(list, path)
		}
	}
	slices.Sort(list)
	return list
}

const (
	// pollInterval is how often files are looked at.
	pollInterval = 300 * time.Millisecond
	// quietPeriod is how long they must not change to have changed.
	quietPeriod = 100 * time.Millisecond
	// idleFactor is how many times as long as a look takes nothing is done.
	idleFactor = 10
)

// Wait returns when files are no longer as in a Snapshot, and hold still: the paths of
// those that differ. The error is ctx's.
func (s *Set) Wait(ctx context.Context, before Snapshot) ([]string, error) {
	pause := pollInterval
	for {
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
		began := time.Now()
		now := s.Take()
		pause = max(pollInterval, idleFactor*time.Since(began))
		if len(before.Changed(now)) == 0 {
			continue
		}
		for {
			if err := sleep(ctx, quietPeriod); err != nil {
				return nil, err
			}
			next := s.Take()
			if len(now.Changed(next)) == 0 {
				break
			}
			now = next
		}
		if changed := before.Changed(now); len(changed) > 0 {
			return changed, nil
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
