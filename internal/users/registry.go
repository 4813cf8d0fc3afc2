package users

import (
	"crypto/sha256"
	"crypto/subtle"
	"io/fs"
	"os"
	"sync"
)

// Registry finds the users of a state directory. It reads the file again when it has changed, so
// that users can be added and removed while a service runs. If the file cannot be read, there are no
// users. Safe for concurrent use.
type Registry struct {
	stateDir string
	report   func(error) // gets the reason why the file cannot be read
	mu       sync.Mutex
	read     fs.FileInfo // of the file that was read; nil for none
	users    []User
}

// NewRegistry returns the Registry of a state directory. report is called when the file cannot be
// read.
func NewRegistry(stateDir string, report func(error)) *Registry {
	return &Registry{stateDir: stateDir, report: report}
}

// ByToken returns the user whose token has the given SHA-256 hash. It takes the same time for every
// token.
func (r *Registry) ByToken(sum [sha256.Size]byte) (found User, ok bool) {
	given := hashOf(sum)
	for _, u := range r.list() {
		if subtle.ConstantTimeCompare([]byte(u.Hash), []byte(given)) == 1 {
			found, ok = u, true
		}
	}
	return found, ok
}

// ByName returns the user with a name.
func (r *Registry) ByName(name string) (User, bool) {
	list := r.list()
	at, ok := find(list, name)
	if !ok {
		return User{}, false
	}
	return list[at], true
}

// list returns the current users. It must not be changed.
func (r *Registry) list() []User {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := os.Stat(Path(r.stateDir))
	if err != nil {
		r.read, r.users = nil, nil
		return nil
	}
	if r.read != nil && os.SameFile(info, r.read) && info.ModTime().Equal(r.read.ModTime()) && info.Size() == r.read.Size() {
		return r.users
	}
	r.read = info
	if r.users, err = List(r.stateDir); err != nil {
		r.report(err)
	}
	return r.users
}
