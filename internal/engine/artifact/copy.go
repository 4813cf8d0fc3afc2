package artifact

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/flowrun/flowrun/internal/os/ownership"
)

const storeFolder = "artifacts"

// StoreFolder returns the folder that has the content of the artifacts of all runs.
func StoreFolder(state string) string { return filepath.Join(state, storeFolder) }

// file copies a file of the step into the store, and gives the content the name to.
func (w *writer) file(ctx context.Context, from, to string) (File, error) {
	in, err := w.open(from)
	if err != nil {
		return File{}, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return File{}, err
	}
	if err := w.allows(info); err != nil {
		return File{}, err
	}
	f := File{Executable: info.Mode()&0o111 != 0}
	temp := filepath.Join(w.store, tempNew+rand.Text())
	defer os.Remove(temp)
	sum, size, err := w.copy(ctx, in, info.Size(), temp, f.mode())
	if err != nil {
		return File{}, err
	}
	passPoint("copied")
	f.Size, f.Digest = size, digestText(sum)
	return f, w.place(temp, to, sum, f)
}

// open opens a file of the step. A pipe without a writer does not block it.
func (w *writer) open(name string) (*os.File, error) {
	f, err := w.root.OpenFile(name, os.O_RDONLY|nonBlocking, 0)
	switch {
	case errors.Is(err, syscall.ENXIO):
		return nil, errNoFile
	case err != nil || w.from.Rights == nil:
		return f, err
	}
	if err := w.from.Rights(func() error { return w.opensSame(f, name) }); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// opensSame reports why the step could not have opened a file: rights to folders on the way to it are not needed for
// that, but for the root of the step's directory they are.
func (w *writer) opensSame(f *os.File, name string) error {
	same, err := os.OpenFile(filepath.Join(w.from.Dir, filepath.FromSlash(name)), os.O_RDONLY|nonBlocking, 0)
	if err != nil {
		return err
	}
	defer same.Close()
	mine, err := f.Stat()
	if err != nil {
		return err
	}
	its, err := same.Stat()
	if err == nil && !os.SameFile(mine, its) {
		err = errors.New("it was replaced while it was read")
	}
	return err
}

var errNoFile = errors.New("it is not a regular file, and cannot be kept")

// allows returns why a file cannot be kept.
func (w *writer) allows(info fs.FileInfo) error {
	switch owner, links := ownerOf(info); {
	case !info.Mode().IsRegular():
		return errNoFile
	case info.Size() > w.run.limits.MaxFileSize:
		return w.tooLarge()
	case owner >= 0 && owner != os.Geteuid() && owner != 0 && !w.from.Reduced:
		return errors.New("it belongs to another user, and cannot be kept")
	case w.from.Reduced && owner == os.Geteuid() && links > 1:
		return errors.New("it is a second name of a file that the step does not own, and cannot be kept")
	}
	return nil
}

func (w *writer) tooLarge() error {
	return fmt.Errorf("it is larger than %d bytes; keep a smaller file, or raise the setting artifacts.max-file-size", w.run.limits.MaxFileSize)
}

// copy makes a new file with the content of another one: a clone, if the file system can share its blocks. The digest is
// that of the new file, because the step may still write to the other one. Of a file that grows, the first most bytes are
// copied: a reader that followed a fast writer would never come to an end.
func (w *writer) copy(ctx context.Context, in *os.File, most int64, to string, mode fs.FileMode) (digest []byte, size int64, err error) {
	out, err := os.OpenFile(to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, 0, err
	}
	sum := sha256.New()
	var from io.Reader = contextReader{ctx, io.TeeReader(io.LimitReader(in, most), out)}
	if clone(out, in) == nil {
		from = contextReader{ctx, io.LimitReader(out, most)}
	}
	counted := &counter{Writer: sum}
	from = io.TeeReader(from, counted)
	if w.from.Secret != nil {
		var found bool
		if found, err = w.from.Secret(from); err == nil && found {
			err = errSecret
		}
	} else {
		_, err = io.Copy(io.Discard, from)
	}
	if err == nil {
		err = errors.Join(out.Truncate(counted.size), out.Chmod(mode), out.Sync()) // a clone may be larger
	}
	return sum.Sum(nil), counted.size, errors.Join(err, out.Close())
}

// counter counts what is written.
type counter struct {
	io.Writer
	size int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.size += int64(len(p))
	return c.Writer.Write(p)
}

// contextReader is a reader that fails once its context is done.
type contextReader struct {
	ctx context.Context
	io.Reader
}

func (r contextReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// place gives the content in a temporary file its name in the store, unless that has it already, and the name to. Where
// the file system has no links, the store does not get the content.
func (w *writer) place(temp, to string, sum []byte, f File) error {
	name := hex.EncodeToString(sum)
	if f.Executable {
		name += "x"
	}
	content := filepath.Join(w.store, name[:2], name[2:])
	if err := os.MkdirAll(filepath.Dir(content), 0o700); err != nil {
		return err
	}
	for range 10 {
		err := os.Link(temp, content)
		if errors.Is(err, fs.ErrExist) && !holds(content, f) {
			err = os.Rename(temp, content) // the stored one was damaged
			temp = content
		}
		passPoint("stored")
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return os.Rename(temp, to)
		}
		if err := os.Link(content, to); !errors.Is(err, fs.ErrNotExist) { // if another process has just removed it: again
			if err != nil && temp != content { // too many links
				return os.Rename(temp, to)
			}
			return err
		}
	}
	return os.Rename(temp, to)
}

// holds reports whether a stored content is what its name says.
func holds(path string, f File) bool {
	in, err := ownership.OpenFile(path)
	if _, foreign := errors.AsType[*ownership.ForeignError](err); foreign {
		return false // who owns it can change it later
	}
	if err != nil {
		return true // there is none any more
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
		return false
	}
	sum := sha256.New()
	_, err = io.Copy(sum, in)
	return err == nil && digestText(sum.Sum(nil)) == f.Digest
}
