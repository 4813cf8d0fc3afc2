// Package ownership decides which of the files that flowrun finds by itself are used: tools and
// settings above the working directory, those of the user and of the machine, and the state
// directory. A person who can write them decides what flowrun runs, so they are used only if no
// user other than this one and root can write them.
//
// Files that flowrun itself keeps in the state directory are read through ReadFile, OpenFile and CheckFile.
//
// On Windows, where modes do not show who can write, all files are used: the access control lists
// of the directories protect them.
package ownership

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Guard configures how files are ignored. The zero Guard reports nothing and trusts no other users.
type Guard struct {
	// Report, if set, is called once for each file or directory that is ignored.
	Report func(message string)
	// Trusts, if set, reports whether the user trusts a directory: its .flowrun and .cycod are used
	// although they belong to the user uid, or others can write them.
	Trusts func(folder string, uid int) bool
}

var (
	mu           sync.Mutex
	guard        Guard
	ignored      = map[string]string{} // path -> message
	ignoredOrder []string
)

// Use sets the Guard of this process and forgets what was ignored so far. Call it when the process
// starts.
func Use(g Guard) {
	mu.Lock()
	defer mu.Unlock()
	guard, ignored, ignoredOrder = g, map[string]string{}, nil
}

// Ignored returns the messages about all files and directories that were ignored.
func Ignored() (list []string) {
	mu.Lock()
	defer mu.Unlock()
	for _, path := range ignoredOrder {
		list = append(list, ignored[path])
	}
	return list
}

// UnreportedIgnored returns the same messages if no Guard has reported them.
func UnreportedIgnored() []string {
	mu.Lock()
	silent := guard.Report == nil
	mu.Unlock()
	if !silent {
		return nil
	}
	return Ignored()
}

// Counts reports whether a file or directory may be used. That includes the directories above it up
// to its .flowrun or .cycod. A file that does not exist may be used: reading it will fail anyway.
func Counts(path string) bool {
	folder, top := Project(path)
	if folder == "" {
		return countsItself(path, "")
	}
	return countsBelow(path, folder, top)
}

// countsBelow checks the top directory first, so that one message covers everything in it.
func countsBelow(path, folder, top string) bool {
	if path != top && !countsBelow(filepath.Dir(path), folder, top) {
		return false
	}
	return countsItself(path, folder)
}

// countsItself checks a file or directory without those above it.
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
	message := fmt.Sprintf("%s is ignored: %s; to use it, make yourself its owner (chown) and remove the write access of others (chmod go-w)", path, why)
	if folder != "" {
		message += ", or flowrun trust " + shellword.Sh(folder)
	}
	mu.Lock()
	ignored[path], ignoredOrder = message, append(ignoredOrder, path)
	mu.Unlock()
	if report != nil {
		report(message)
	}
	return false
}

// Project returns the directory whose .flowrun or .cycod contains a path, and the path of that
// .flowrun or .cycod. Both are "" for other paths.
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

// ForeignOwner returns the owner of the first file in the .flowrun or .cycod of a directory that
// may not be used without trust. foreign is false if all of them may be used.
func ForeignOwner(folder string) (uid int, foreign bool) {
	for _, name := range []string{".flowrun", ".cycod"} {
		filepath.WalkDir(filepath.Join(folder, name), func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return nil // a file that cannot be read cannot be used either
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

// Check returns an error if users other than this one and root can write a directory, or make it
// another one because they own the link that leads to it. For root it must belong to root.
func Check(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if foreign, ok := errors.AsType[*ForeignError](checkInfo(path, info)); ok {
			return errors.New("it is a link that belongs to user " + foreign.Owner)
		}
	}
	if _, why := checkOwner(path, false); why != "" {
		return errors.New(why)
	}
	return nil
}
