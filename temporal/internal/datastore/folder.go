package datastore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// folder is a Store in a folder that only its owner can read. Each value is a file, which gets its name
// when it is complete.
type folder struct{ root string }

func (f *folder) String() string { return f.root }

func openFolder(root string) (*folder, error) {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the store: %w", err)
	}
	return &folder{root}, nil
}

func (f *folder) path(digest string) (string, error) {
	dir, name, err := split(digest)
	return filepath.Join(f.root, dir, name), err
}

// Put implements Store.
func (f *folder) Put(ctx context.Context, digest string, r io.Reader, size int64) error {
	path, err := f.path(digest)
	if err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.Size() == size {
		if time.Since(info.ModTime()) <= RenewAfter {
			return nil
		}
		if renewed, err := renew(path); renewed || err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.File{Path: path, Mode: 0o600}.Write(func(to *os.File) error {
		_, err := io.Copy(to, checked(untilDone{ctx, r}, digest, size))
		return err
	})
}

// renew makes a value new. It reports false if Prune has taken the value from its place.
func renew(path string) (bool, error) {
	now := time.Now()
	err := os.Chtimes(path, now, now)
	if err == nil {
		_, err = os.Stat(path) // if it is still there, Prune sees the time
	}
	return err == nil, ignoreMissing(err)
}

// Get implements Store.
func (f *folder) Get(_ context.Context, digest string, offset, n int64) (io.ReadCloser, error) {
	path, err := f.path(digest)
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, orMissing(err)
	}
	if offset == 0 && n < 0 {
		info, err := file.Stat()
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return readCloser{checked(file, digest, info.Size()), file}, nil
	}
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if n < 0 {
		return file, nil
	}
	return readCloser{io.LimitReader(file, n), file}, nil
}

// Size implements Store.
func (f *folder) Size(_ context.Context, digest string) (int64, error) {
	path, err := f.path(digest)
	if err != nil {
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, orMissing(err)
	}
	return info.Size(), nil
}

func orMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return ErrMissing
	}
	return err
}

// untilDone is a reader that fails once its context has ended.
type untilDone struct {
	ctx context.Context
	r   io.Reader
}

func (u untilDone) Read(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.r.Read(p)
}
