package users

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"
)

// watchInterval is how often the file is checked while somebody waits for a change.
const watchInterval = 500 * time.Millisecond

// Registry finds the users of a state directory. It reads the file again when it has changed, so
// that users can be added and removed while a service runs. If the file cannot be read, there are no
// users. Safe for concurrent use.
type Registry struct {
	stateDir string
	report   func(error) // gets the reason why the file cannot be read
	mu       sync.Mutex
	read     fs.FileInfo // of the file that was read; nil for none
	users    []User
	lives    map[User]life // of those who are current
	watching bool          // a check of the file is due
}

// life is a context that ends when a user is removed or changed.
type life struct {
	context.Context
	end context.CancelFunc
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

// Life returns a context that ends within about watchInterval after the user was removed or has got
// another role or token. All callers with the same user get the same context: one check serves all
// streams.
func (r *Registry) Life(u User) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	l, known := r.lives[u]
	if !known {
		l.Context, l.end = context.WithCancel(context.Background())
		if r.lives == nil {
			r.lives = map[User]life{}
		}
		r.lives[u] = l
		r.endLives() // the user may have been removed since u was returned
		r.watchLater()
	}
	return l.Context
}

// watchLater checks the file after a while, as long as there are lives that can end. r.mu must be held.
func (r *Registry) watchLater() {
	if r.watching || len(r.lives) == 0 {
		return
	}
	r.watching = true
	time.AfterFunc(watchInterval, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.watching = false
		r.current()
		r.watchLater()
	})
}

// endLives ends the lives of users who are not among r.users. r.mu must be held.
func (r *Registry) endLives() {
	for u, l := range r.lives {
		if !slices.Contains(r.users, u) {
			l.end()
			delete(r.lives, u)
		}
	}
}

// list returns the current users. It must not be changed.
func (r *Registry) list() []User {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.current()
}

// current is list with r.mu held.
func (r *Registry) current() []User {
	info, err := os.Stat(Path(r.stateDir))
	if err != nil {
		r.read, r.users = nil, nil
		r.endLives()
		return nil
	}
	if r.read != nil && os.SameFile(info, r.read) && info.ModTime().Equal(r.read.ModTime()) && info.Size() == r.read.Size() && info.Mode() == r.read.Mode() {
		return r.users
	}
	r.read = info
	if r.users, err = List(r.stateDir); err != nil {
		r.report(err)
	}
	r.endLives()
	return r.users
}
