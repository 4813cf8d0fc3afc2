package steps

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
)

// AdoptLog gives a log file of another run a name in this run's LogFolder, as a
// log of the step, and returns that name. The folder is made if it is not there.
// The file is linked, or copied where that cannot be done; it is found whole or
// not at all. Only regular files can be adopted.
func AdoptLog(dir string, path dag.ID, attempt int, s Streams, from string) (string, error) {
	to, err := adopt(filepath.Join(dir, logName(path, attempt, s)), from)
	if err != nil {
		return "", fmt.Errorf("cannot reuse the log file %q: %w", from, err)
	}
	return to, nil
}

func adopt(base, from string) (to string, err error) {
	if info, err := os.Lstat(from); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() {
		return "", errors.New("it is no regular file")
	}
	if err := os.MkdirAll(filepath.Dir(base), 0o700); err != nil {
		return "", err
	}
	link := func(path string) error {
		to = path
		return os.Link(from, path)
	}
	if err := firstFree(base, link); err == nil {
		return to, nil
	}
	return duplicate(base, from)
}

// duplicate copies a file: under a name that nobody looks for, which is exchanged
// for one that was taken for it.
func duplicate(base, from string) (to string, err error) {
	temp, err := copyFile(filepath.Dir(base), from)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	take := func(path string) error {
		to = path
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	if err := firstFree(base, take); err != nil {
		return "", err
	}
	if err := os.Rename(temp, to); err != nil {
		os.Remove(to)
		return "", err
	}
	return to, nil
}

// copyFile copies a file into a new one in dir that only this user can read.
func copyFile(dir, from string) (temp string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer in.Close()
	out, err := os.CreateTemp(dir, ".adopted-*")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		os.Remove(out.Name())
		return "", err
	}
	return out.Name(), nil
}
