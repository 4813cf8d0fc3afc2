// Package savedfile keeps the files that flowrun itself writes for a step, such as the response of a request. A File is made
// before the step does anything, so that nothing is asked of a server if the answer cannot be kept, and it gets its name
// when all of it is there. A step stays in the folders that its permissions grant, also when links change meanwhile.
package savedfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/sharedfiles"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Place renders the path of a file. It returns the folder in which the step must stay, and the path from there. granted is
// Grants.Readable or Grants.Writable.
func Place(f *call.Frame, t *expr.Template, sc expr.Scope, granted func(permission.Grants, string) (string, string, error)) (root, rest string, err error) {
	path, err := t.Text(sc)
	switch {
	case err != nil:
		return "", "", err
	case path == "":
		return "", "", errors.New("the path of a file of the step is empty")
	}
	path = f.Resolve(f.Dir(), path)
	if !f.Confine.Enforced {
		real := permission.RealPath(path)
		return filepath.Dir(real), filepath.Base(real), nil
	}
	if root, rest, err = granted(call.Grants(f), path); err != nil {
		return "", "", err
	}
	if info, err := os.Lstat(root); err != nil || !info.IsDir() { // the permission is for one file
		root, rest = filepath.Dir(root), filepath.Base(root)
	}
	return root, rest, nil
}

// File is a file that is being written.
type File struct {
	what        string // it holds, for messages
	root        *os.Root
	file        *os.File
	temp, name  string
	limit, size int64 // bytes; limit 0 means none
	work        *sharedfiles.Work
}

// Create begins a file. what names its content in messages, such as "the response". Publish or Discard must follow.
func Create(f *call.Frame, step dag.ID, t *expr.Template, sc expr.Scope, what string) (*File, error) {
	root, rest, err := Place(f, t, sc, permission.Grants.Writable)
	if err != nil {
		return nil, err
	}
	rest = filepath.ToSlash(rest)
	work := f.Files.Begin(string(step), root, []string{cache.Literal(rest)})
	s := &File{what: what, limit: f.Confine.MaxFileSize, work: work, name: rest, temp: rest + ".part-" + rand.Text()}
	if _, err = work.Owner(rest); err == nil { // of two steps that save one file at the same time, the later one does nothing
		err = s.open(root)
	}
	if err != nil {
		s.Discard()
		return nil, fmt.Errorf("cannot save %s: %w", what, err)
	}
	return s, nil
}

func (s *File) open(root string) (err error) {
	if s.root, err = os.OpenRoot(root); err != nil {
		return err
	}
	if info, err := s.root.Lstat(s.name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder", s.name)
	}
	s.file, err = s.root.OpenFile(s.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return err
}

// Write implements io.Writer. Its errors are of type Error.
func (s *File) Write(b []byte) (int, error) {
	if s.size += int64(len(b)); s.limit > 0 && s.size > s.limit {
		return 0, Error{errors.New(s.what + " exceeds resources.max-file-size")}
	}
	n, err := s.file.Write(b)
	return n, s.failed(err)
}

// Error is that a file could not be kept, for which no server is to blame.
type Error struct{ error }

// Permanent tells that the same content would meet the same error.
func (Error) Permanent() bool { return true }

func (s *File) failed(err error) error {
	if err == nil {
		return nil
	}
	return Error{fmt.Errorf("cannot save %s: %w", s.what, err)}
}

// Publish closes the file and gives it its name.
func (s *File) Publish() error {
	defer s.work.End()
	err := s.file.Close()
	if err == nil {
		err = s.root.Rename(s.temp, s.name)
	}
	if err != nil {
		s.root.Remove(s.temp)
	}
	return errors.Join(s.failed(err), s.root.Close())
}

// Discard removes what was written. A nil File has nothing to remove.
func (s *File) Discard() {
	if s == nil {
		return
	}
	s.work.End()
	if s.file != nil {
		s.file.Close()
		s.root.Remove(s.temp)
	}
	if s.root != nil {
		s.root.Close()
	}
}
