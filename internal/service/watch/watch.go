// Package watch notices changes to files by polling them.
//
// A Set says which files: by path and by pattern. Take makes a Snapshot of them. Wait compares
// until the Snapshot differs and then stays the same for a moment, so that an editor that writes a
// new file and renames it, or a checkout that changes a thousand files, counts as one change.
//
// Polling costs one stat per file, a few times a second. Notifications of the operating system
// would cost less but have other drawbacks: they need directories that exist, do not work on
// network and container file systems, have limits that a repository can exceed, and differ on every
// system. A large Set is polled less often, so that polling never takes more than about a tenth of
// a CPU.
package watch

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/engine/cache"
)

// Set lists the files to watch.
type Set struct {
	// Files are paths. A file that does not exist yet is noticed when it appears.
	Files []string
	// Patterns select files, as in cache.inputs; a directory means everything below it.
	Patterns []string
	// Exclude lists patterns of files that are ignored, such as those that a run writes.
	Exclude []string
	// SkipFolders are directories that are not searched, in addition to those of version control.
	SkipFolders []string
}

// Check returns an error if a text is not a valid pattern.
func Check(pattern string) error {
	_, _, err := cache.Base(pattern)
	return err
}

// fileState is compared to notice that a file has changed.
type fileState struct {
	size  int64
	mode  fs.FileMode
	mtime time.Time
}

// Snapshot is the state of the files of a Set at one time.
type Snapshot map[string]fileState

// Take returns the current state of the files. Files that cannot be read count as missing.
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

// versionControl lists directories that change although no source file changes.
var versionControl = []string{".git", ".hg", ".jj", ".svn"}

func (s *Set) find(snap Snapshot, pattern string) {
	folder, rest, err := cache.Base(pattern)
	if err != nil {
		return
	}
	root := filepath.FromSlash(folder)
	filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // files may appear and disappear while it reads
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

// samePath reports whether two paths are the same once they are absolute. It does not follow links.
func samePath(a, b string) bool {
	x, errX := filepath.Abs(a)
	y, errY := filepath.Abs(b)
	return errX == nil && errY == nil && x == y
}

// Changed returns the paths that differ between two Snapshots, sorted.
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
	// pollInterval is the minimum time between two polls.
	pollInterval = 300 * time.Millisecond
	// quietPeriod is how long the files must stay unchanged before a change is reported.
	quietPeriod = 100 * time.Millisecond
	// idleFactor is the minimum pause between two polls, as a multiple of the time that a poll
	// takes.
	idleFactor = 10
)

// Wait waits until files differ from a Snapshot and stay unchanged for a moment. It returns the
// paths that differ. If ctx ends first, it returns the error of ctx.
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
