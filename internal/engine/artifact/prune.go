package artifact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

const (
	expiringFolder = "expiring"
	abandonedAfter = time.Hour // age at which a temporary file counts as left behind
	pruneEvery     = 24 * time.Hour
)

// noteExpiry notes when the artifact in a folder has to be removed.
func noteExpiry(store string, at time.Time, folder string) error {
	dir := filepath.Join(store, expiringFolder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return atomicfile.File{Path: filepath.Join(dir, fmt.Sprintf("%d-%s", at.Unix(), rand.Text())), Mode: 0o600, Unsynced: true}.WriteText([]byte(folder))
}

// pruneDaily calls Prune if that has not happened for a day. An error is ignored: another day comes.
func pruneDaily(state string) {
	stamp, now := filepath.Join(state, storeFolder, "pruned"), time.Now()
	if info, err := os.Stat(stamp); err == nil {
		if age := now.Sub(info.ModTime()); age >= 0 && age < pruneEvery {
			return
		}
	}
	if errors.Join(os.MkdirAll(filepath.Dir(stamp), 0o700), os.WriteFile(stamp, nil, 0o600)) == nil {
		_, _ = Prune(state, now)
	}
}

// Prune removes artifacts whose retention has passed, and contents that no run has any more. It returns how many bytes
// that freed.
func Prune(state string, now time.Time) (freed int64, err error) {
	store := filepath.Join(state, storeFolder)
	err = removeExpired(state, store, now)
	folders, readErr := os.ReadDir(store)
	if errors.Is(readErr, fs.ErrNotExist) {
		return 0, nil
	}
	for _, f := range folders {
		switch {
		case strings.HasPrefix(f.Name(), tempNew):
			removeOld(filepath.Join(store, f.Name()), now)
		case f.IsDir() && len(f.Name()) == 2:
			n, bad := removeUnused(filepath.Join(store, f.Name()), now)
			freed, err = freed+n, errors.Join(err, bad)
		}
	}
	return freed, errors.Join(err, readErr)
}

// Moved tells the notes about when artifacts have to be removed that the state directory was at from before.
func Moved(state, from string) (err error) {
	dir := filepath.Join(state, storeFolder, expiringFolder)
	notes, bad := os.ReadDir(dir)
	if bad != nil && !errors.Is(bad, fs.ErrNotExist) {
		return bad
	}
	for _, n := range notes {
		file := filepath.Join(dir, n.Name())
		folder, bad := ownership.ReadFile(file)
		if rest, inside := strings.CutPrefix(string(folder), from+string(filepath.Separator)); bad == nil && inside {
			bad = atomicfile.File{Path: file, Mode: 0o600, Unsynced: true}.WriteText([]byte(filepath.Join(state, rest)))
		}
		err = errors.Join(err, bad)
	}
	return err
}

func removeExpired(state, store string, now time.Time) error {
	dir := filepath.Join(store, expiringFolder)
	notes, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, n := range notes {
		at, _, _ := strings.Cut(n.Name(), "-")
		due, bad := strconv.ParseInt(at, 10, 64)
		if bad != nil || now.Before(time.Unix(due, 0)) {
			continue
		}
		file := filepath.Join(dir, n.Name())
		folder, bad := ownership.ReadFile(file)
		if place := string(folder); bad == nil && within(state, place) && expired(place, now) {
			bad = errors.Join(os.Remove(place+manifestExt), os.RemoveAll(place))
		}
		err = errors.Join(err, bad, os.Remove(file))
	}
	return err
}

// within reports whether a folder is that of an artifact in the state folder.
func within(state, folder string) bool {
	rel, err := filepath.Rel(filepath.Join(state, "runs"), folder)
	return err == nil && filepath.IsLocal(rel) && len(strings.Split(rel, string(filepath.Separator))) == 4
}

// expired reports whether the artifact that is in a folder now has expired: a later attempt may have replaced it.
func expired(folder string, now time.Time) bool {
	m, err := readManifest(folder)
	return err == nil && !m.Expires.IsZero() && !now.Before(m.Expires)
}

// removeUnused removes contents that have no name but their own. Recent ones may belong to an artifact that is being
// written.
func removeUnused(dir string, now time.Time) (freed int64, err error) {
	files, err := os.ReadDir(dir)
	for _, f := range files {
		path := filepath.Join(dir, f.Name())
		info, bad := f.Info()
		if bad != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < abandonedAfter || !single(path, info) {
			continue
		}
		if bad := os.Remove(path); bad == nil {
			freed += info.Size()
		} else {
			err = errors.Join(err, bad)
		}
	}
	_ = os.Remove(dir) // fails while there are files in it
	return freed, err
}

func removeOld(path string, now time.Time) {
	if info, err := os.Lstat(path); err == nil && now.Sub(info.ModTime()) > abandonedAfter {
		_ = os.Remove(path)
	}
}
