package ownership

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ForeignError is the error for a file of flowrun's own state that another user has made: what it says was not written by
// flowrun for this user.
type ForeignError struct{ Path, Owner string }

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is not used: it belongs to user %s; make yourself its owner (chown), or remove it", e.Path, e.Owner)
}

// OtherOwner says to whom a file belongs if that is neither this user nor root, who could change it
// whatever its mode is; "" otherwise.
func OtherOwner(info fs.FileInfo) string {
	if err := new(ForeignError); errors.As(checkInfo("", info), &err) {
		return "it belongs to user " + err.Owner
	}
	return ""
}

// ReadFile reads a file of the state directory. The error is a *ForeignError if the file, or the folder that it is in,
// belongs to a user other than this one and root: the mode of the state directory alone does not show who has written it,
// because it can have been another one earlier.
func ReadFile(path string) ([]byte, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// OpenFile opens a file of the state directory for reading. Its errors are those of ReadFile.
func OpenFile(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if err = errors.Join(CheckOpen(f), CheckFile(filepath.Dir(path))); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// CheckOpen returns the error of ReadFile about an open file.
func CheckOpen(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return checkInfo(f.Name(), info)
}

// CheckFile returns the error of ReadFile without reading the file, nil if it does not exist. It is for a file that
// something else opens, in a state directory that no other user can write now.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return checkInfo(path, info)
}
