// Package ownership decides whether files that flowrun finds by itself count: tools and
// settings above the working directory, those of the user and of the machine, and the
// folder of state. Whoever may write them decides what flowrun runs, so they count only
// where nobody but this user and root may.
//
// On Windows, where modes do not say who may write, everything counts: there the access
// control lists of the folders are what protects them.
package ownership

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
)

// Guard is how a program wants to hear of what does not count. The zero Guard says
// nothing and trusts nobody else.
type Guard struct {
	// Report is called once for each file or folder that is passed over.
	Report func(message string)
	// Trusts says whether the user has decided that the .flowrun and .cycod of a folder
	// count although they belong to that user, or others may write them.
	Trusts func(folder string, uid int) bool
}

var (
	mu           sync.Mutex
	guard        Guard
	ignored      = map[string]string{} // path -> message
	ignoredOrder []string
)

// Use sets the Guard of the process, at its start.
func Use(g Guard) {
	mu.Lock()
	defer mu.Unlock()
	guard, ignored, ignoredOrder = g, map[string]string{}, nil
}

// Ignored are the messages about everything that was passed over.
func Ignored() (list []string) {
	mu.Lock()
	defer mu.Unlock()
	for _, path := range ignoredOrder {
		list = append(list, ignored[path])
	}
	return list
}

// UnreportedIgnored are those that nobody was told of.
func UnreportedIgnored() []string {
	mu.Lock()
	silent := guard.Report == nil
	mu.Unlock()
	if !silent {
		return nil
	}
	return Ignored()
}

// Counts says whether a file or folder counts, and the folders above it up to its
// .flowrun or .cycod. What is not there counts: others will say so.
func Counts(path string) bool {
	folder, top := Project(path)
	if folder == "" {
		return countsItself(path, "")
	}
	return countsBelow(path, folder, top)
}

// countsBelow asks about the top first, so that one message is enough for all in it.
func countsBelow(path, folder, top string) bool {
	if path != top && !countsBelow(filepath.Dir(path), folder, top) {
		return false
	}
	return countsItself(path, folder)
}

func countsItself(path, folder string) bool {
	uid, why := checkOwner(path, true)
	if why == "" {
		return true
	}
	mu.Lock()
	trusts, report := guard.Trusts, guard.Report
	_, known := ignored[path]
	mu.Unlock()
	if folder != "" && trusts != nil && trusts(folder, uid) {
		return true
	}
	if known {
		return false
	}
	message := fmt.Sprintf("%s is ignored: %s; if it is meant to count: chown it to you and chmod go-w it", path, why)
	if folder != "" {
		message += ", or flowrun trust " + folder
	}
	mu.Lock()
	ignored[path], ignoredOrder = message, append(ignoredOrder, path)
	mu.Unlock()
	if report != nil {
		report(message)
	}
	return false
}

// Project is the folder whose .flowrun or .cycod a path leads into, and the path of
// that; both are "" for another path.
func Project(path string) (folder, top string) {
	for at := path; ; at = filepath.Dir(at) {
		switch filepath.Base(at) {
		case ".flowrun", ".cycod":
			return filepath.Dir(at), at
		}
		if filepath.Dir(at) == at {
			return "", ""
		}
	}
}

// ForeignOwner is the first user to whom something in the .flowrun or .cycod of a folder
// belongs that does not count by itself; false where all of it does.
func ForeignOwner(folder string) (uid int, foreign bool) {
	for _, name := range []string{".flowrun", ".cycod"} {
		filepath.WalkDir(filepath.Join(folder, name), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return nil // who cannot read it cannot use it
			}
			if owner, why := checkOwner(path, true); why != "" && !foreign {
				uid, foreign = owner, true
				return fs.SkipAll
			}
			return nil
		})
	}
	return uid, foreign
}

// Check is why a folder is not this user's alone; root's is, and for root only its own.
func Check(path string) error {
	if _, why := checkOwner(path, false); why != "" {
		return errors.New(why)
	}
	return nil
}
