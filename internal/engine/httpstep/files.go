package httpstep

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/sharedfiles"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// maxCertificate limits a file with certificates, in bytes.
const maxCertificate = 1 << 20

// place renders the path of a file. It returns the folder in which the step must stay, and the path from there.
func (x *exchange) place(t *expr.Template, sc expr.Scope, granted func(permission.Grants, string) (string, string, error)) (root, rest string, err error) {
	path, err := t.Text(sc)
	switch {
	case err != nil:
		return "", "", err
	case path == "":
		return "", "", errors.New("the path of a file of the request is empty")
	}
	path = x.frame.Resolve(x.frame.Dir(), path)
	if !x.frame.Confine.Enforced {
		real := permission.RealPath(path)
		return filepath.Dir(real), filepath.Base(real), nil
	}
	if root, rest, err = granted(call.Grants(x.frame), path); err != nil {
		return "", "", err
	}
	if info, err := os.Lstat(root); err != nil || !info.IsDir() { // the permission is for one file
		root, rest = filepath.Dir(root), filepath.Base(root)
	}
	return root, rest, nil
}

// open returns a function that opens a file to read, with its size.
func (x *exchange) open(t *expr.Template, sc expr.Scope) (func() (io.ReadCloser, int64, error), error) {
	root, rest, err := x.place(t, sc, permission.Grants.Readable)
	if err != nil {
		return nil, err
	}
	return func() (io.ReadCloser, int64, error) {
		f, err := os.OpenInRoot(root, rest)
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("%s is not a regular file", rest)
		}
		if err != nil {
			f.Close()
			return nil, 0, err
		}
		return f, info.Size(), nil
	}, nil
}

func (x *exchange) upload(sc expr.Scope) (err error) {
	if x.request.Open, err = x.open(x.File, sc); err != nil {
		return err
	}
	f, _, err := x.request.Open()
	if err != nil {
		return fmt.Errorf("cannot read the body of the request: %w", err)
	}
	x.header("Content-Type", "application/octet-stream")
	return f.Close()
}

func (x *exchange) certificates(sc expr.Scope) error {
	for _, one := range []struct {
		t  *expr.Template
		to *[]byte
	}{{x.CA, &x.request.CA}, {x.Cert, &x.request.Cert}, {x.Key, &x.request.Key}} {
		if one.t == nil {
			continue
		}
		open, err := x.open(one.t, sc)
		if err != nil {
			return err
		}
		f, _, err := open()
		if err != nil {
			return fmt.Errorf("cannot read a certificate: %w", err)
		}
		*one.to, err = io.ReadAll(io.LimitReader(f, maxCertificate))
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("cannot read a certificate: %w", err)
		}
	}
	return nil
}

// savedFile is the file of save-as. It gets its name when all of it is there. It is made before the request is sent, so
// that nothing is asked of the server if the answer cannot be kept.
type savedFile struct {
	root        *os.Root
	file        *os.File
	temp, name  string
	limit, size int64 // bytes; limit 0 means none
	used        bool  // the response goes to it
	work        *sharedfiles.Work
}

func (x *exchange) save(sc expr.Scope) error {
	if x.SaveAs == nil {
		return nil
	}
	root, rest, err := x.place(x.SaveAs, sc, permission.Grants.Writable)
	if err != nil {
		return err
	}
	rest = filepath.ToSlash(rest)
	work := x.frame.Files.Begin(string(x.step), root, []string{cache.Literal(rest)})
	_, err = work.Owner(rest) // of two steps that save one file at the same time, the later one sends nothing
	var s *savedFile
	if err == nil {
		s, err = newSavedFile(root, rest)
	}
	if err != nil {
		work.End()
		return fmt.Errorf("cannot save the response: %w", err)
	}
	s.limit, s.work = x.frame.Confine.MaxFileSize, work
	x.saved = s
	x.request.Save = func(status int) io.Writer {
		if s.used = x.expects(status); !s.used {
			return nil
		}
		return s
	}
	return nil
}

func newSavedFile(root, rest string) (s *savedFile, err error) {
	s = &savedFile{name: rest, temp: rest + ".part-" + rand.Text()}
	if s.root, err = os.OpenRoot(root); err != nil {
		return nil, err
	}
	if info, bad := s.root.Lstat(rest); bad == nil && info.IsDir() {
		err = fmt.Errorf("%s is a folder", rest)
	} else {
		s.file, err = s.root.OpenFile(s.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	}
	if err != nil {
		s.discard()
	}
	return s, err
}

// Write implements io.Writer.
func (s *savedFile) Write(b []byte) (int, error) {
	if s.size += int64(len(b)); s.limit > 0 && s.size > s.limit {
		return 0, saveError{errors.New("the response exceeds resources.max-file-size")}
	}
	n, err := s.file.Write(b)
	if err != nil {
		err = saveError{fmt.Errorf("cannot save the response: %w", err)}
	}
	return n, err
}

// saveError is that a response could not be kept, for which the server is not to blame.
type saveError struct{ error }

// Permanent tells that the same response would meet the same error.
func (saveError) Permanent() bool { return true }

// publish closes the file and gives it its name, if the response went to it.
func (s *savedFile) publish() error {
	if s == nil || !s.used {
		s.discard()
		return nil
	}
	defer s.work.End()
	err := s.file.Close()
	if err == nil {
		err = s.root.Rename(s.temp, s.name)
	}
	if err != nil {
		s.root.Remove(s.temp)
		err = saveError{fmt.Errorf("cannot save the response: %w", err)}
	}
	return errors.Join(err, s.root.Close())
}

// discard removes what was written.
func (s *savedFile) discard() {
	if s == nil {
		return
	}
	if s.work != nil {
		s.work.End()
	}
	if s.file != nil {
		s.file.Close()
		s.root.Remove(s.temp)
	}
	s.root.Close()
}
