package cache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Restore restores the outputs that are missing in dir or differ from the stored ones, with their modes, and removes what
// the step removed. Other files in an output folder stay: ask Obstacle before. A file is replaced only when its copy is complete. The error names the output that could
// not be restored; others may have been restored before. If the error wraps ErrDamaged, the cached result is at
// fault.
func (e *Entry) Restore(ctx context.Context, dir string) error {
	if len(e.Outputs)+len(e.Removed) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("cannot restore the outputs: %w", err)
	}
	defer root.Close()
	if err := e.removeAgain(root); err != nil {
		return err
	}
	present := make([]bool, len(e.Outputs))
	err = each(ctx, len(e.Outputs), func(i int) (err error) {
		present[i], err = e.store.unchanged(ctx, root, &e.Outputs[i])
		return e.failed(i, err)
	})
	if err != nil {
		return err
	}
	if !slices.Contains(present, false) {
		return nil
	}
	temp, done := e.note(dir, present)
	defer done()
	passPoint("noted")
	for i := range e.Outputs { // a folder comes before its contents
		if !present[i] {
			if err := errors.Join(ctx.Err(), e.failed(i, e.put(ctx, root, i, temp))); err != nil {
				return err
			}
		}
	}
	for i := len(e.Outputs) - 1; i >= 0; i-- { // last, because a folder may be read-only
		if item := &e.Outputs[i]; item.Type == Folder && !present[i] {
			if err := e.failed(i, root.Chmod(item.Path, item.Mode)); err != nil {
				return err
			}
		}
	}
	return nil
}

// removeAgain removes what the step removed. A folder with other files in it stays.
func (e *Entry) removeAgain(root *os.Root) error {
	for _, path := range slices.Backward(e.Removed) { // the contents of a folder come before it
		info, err := root.Lstat(path)
		if err != nil {
			continue
		}
		if err := root.Remove(path); err != nil && !info.IsDir() && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove %s, which the step removed: %w", path, err)
		}
	}
	return nil
}

func (e *Entry) failed(i int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot restore the output %s: %w", e.Outputs[i].Path, err)
}

// put restores one output, with a temporary file of the name temp beside it.
func (e *Entry) put(ctx context.Context, root *os.Root, i int, temp string) error {
	item := &e.Outputs[i]
	parent := path.Dir(item.Path)
	if err := root.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	if item.Type == Folder {
		return putFolder(root, item)
	}
	defer passPoint("restored")
	file := atomicfile.File{Root: root, Path: item.Path, Mode: item.Mode, Exact: true, Unsynced: true, Temporary: temp}
	switch item.Type {
	case Link:
		if leadsOut(item.Path, item.Target) {
			return fmt.Errorf("%w: a link points outside the working directory", ErrDamaged)
		}
		return file.Symlink(item.Target)
	case File:
		return e.putFile(ctx, file, i)
	}
	return fmt.Errorf("%w: its type is %q", ErrDamaged, item.Type)
}

// putFolder creates a folder, in place of a file or a link. Restore sets its exact mode at the end; a kill before that
// must not leave a folder that is closed to others.
func putFolder(root *os.Root, item *Item) error {
	info, err := root.Lstat(item.Path)
	switch {
	case err == nil && info.IsDir():
		return root.Chmod(item.Path, item.Mode|0o700)
	case err == nil:
		if err := root.Remove(item.Path); err != nil {
			return err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return root.Mkdir(item.Path, item.Mode|0o700)
}

// putFile copies a stored file and verifies the copy.
func (e *Entry) putFile(ctx context.Context, file atomicfile.File, i int) error {
	from, err := ownership.OpenFile(e.copyOf(i))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer from.Close()
	return file.Write(func(to *os.File) error {
		h := e.store.hash()
		_, err := copyTo(ctx, io.MultiWriter(to, h), from)
		if err == nil && sum(h) != e.Outputs[i].Digest {
			err = fmt.Errorf("%w: the copy has changed", ErrDamaged)
		}
		passPoint("halfway")
		return err
	})
}
