package rundir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// AdoptLog gives a log file of another run a name in dir, the LogFolder of this run, as a log of
// the step, and returns that name. It creates the folder if it is missing. It links the file, or
// copies it if it cannot be linked; an incomplete copy never gets the name. Only regular files can
// be adopted.
func AdoptLog(dir string, path dag.ID, attempt int, s Stream, from string) (string, error) {
	to, err := adopt(filepath.Join(dir, LogName(path, attempt, s)), from)
	if err != nil {
		return "", fmt.Errorf("cannot reuse the log file %q: %w", from, err)
	}
	return to, nil
}

func adopt(base, from string) (to string, err error) {
	if info, err := os.Lstat(from); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return "", err
	}
	link := func(path string) error {
		to = path
		return os.Link(from, path)
	}
	if err := FirstFree(base, link); err == nil {
		return to, nil
	}
	return duplicate(base, from)
}

// duplicate copies a file to a free name.
func duplicate(base, from string) (to string, err error) {
	err = FirstFree(base, func(path string) error {
		if _, err := os.Lstat(path); err == nil { // saves a useless copy
			return fs.ErrExist
		}
		to = path
		return atomicfile.File{Path: path, Mode: 0o600, Exclusive: true, Unsynced: true}.Write(func(out *os.File) error {
			in, err := os.Open(from)
			if err != nil {
				return err
			}
			defer in.Close()
			_, err = io.Copy(out, in)
			return err
		})
	})
	return to, err
}
