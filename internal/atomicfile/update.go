package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Update changes a file that only its owner reads: change gets what stands there, nil
// where there is no file, and answers what is to stand there. Several processes, and
// goroutines, that update one file do so one after the other; a lock beside the file,
// NAME.lock, sees to it and ends with the process that holds it. Where change fails, or
// answers what it was given, the file is as it was.
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
