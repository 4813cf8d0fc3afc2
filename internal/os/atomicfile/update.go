package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Update changes a file that only its owner can read. change gets the content, nil if there is no
// file, and returns the new content. If change fails or returns what it was given, the file is not
// written. Concurrent updates of a file, by goroutines or processes, run one after the other: each
// holds a lock on the file NAME.lock, which is released when the process ends.
func Update(path string, change func(was []byte) ([]byte, error)) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := lockFile(lock); err != nil {
		return fmt.Errorf("cannot lock %s: %w", path, err)
	}
	was, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	text, err := change(was)
	if err != nil || was != nil && string(text) == string(was) {
		return err
	}
	return Save(path, text)
}
