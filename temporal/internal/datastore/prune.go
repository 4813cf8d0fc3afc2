package datastore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Pruned is what Prune deleted, or would delete.
type Pruned struct {
	Values int   `json:"values"`
	Bytes  int64 `json:"bytes"`
}

// ErrBucket means that the values of a store are deleted by a rule of its bucket.
var ErrBucket = errors.New("a bucket deletes by age itself: give it a lifecycle rule")

// taken is the end of the name of a file that Prune is about to delete.
const taken = ".taken"

// Prune deletes the values of a folder that were last put before a time; dryRun only counts them.
func Prune(s Store, before time.Time, dryRun bool) (p Pruned, err error) {
	f, ok := s.(*folder)
	if !ok {
		return p, ErrBucket
	}
	err = filepath.WalkDir(f.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime().Before(before) {
			return nil
		}
		deleted := err == nil
		if deleted && !dryRun {
			deleted, err = remove(path, before)
		}
		if deleted {
			p.Values++
			p.Bytes += info.Size()
		}
		return err
	})
	return p, err
}

// remove deletes a value unless it was put again in the meantime. It first takes the value from its
// place, so that whoever puts it from then on writes it.
func remove(path string, before time.Time) (deleted bool, err error) {
	from := strings.TrimSuffix(path, taken) + taken
	if from != path {
		if err := os.Rename(path, from); err != nil {
			return false, ignoreMissing(err)
		}
	}
	info, err := os.Stat(from)
	if err != nil {
		return false, ignoreMissing(err)
	}
	if !info.ModTime().Before(before) {
		return false, os.Rename(from, strings.TrimSuffix(path, taken))
	}
	return true, ignoreMissing(os.Remove(from))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
