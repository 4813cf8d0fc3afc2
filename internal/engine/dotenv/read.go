package dotenv

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxSize is the maximum size of a file, and of all its values, in bytes.
const MaxSize = 1 << 20

// Read returns the text of a file. The error wraps fs.ErrNotExist if there is none. It
// rejects a file that is not regular, because reading a pipe could block forever, and one
// larger than MaxSize.
func Read(path string) (string, error) {
	return ReadBounded(path, MaxSize)
}

// ReadBounded is Read with another maximum size, in bytes.
func ReadBounded(path string, limit int64) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", &os.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return "", err
	}
	if int64(len(b)) > limit {
		return "", &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d bytes", limit)}
	}
	return string(b), nil
}
