package dotenv

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// MaxSize bounds a file and what its values come to, in bytes.
const MaxSize = 1 << 20

// Read is the text of a file. Errors: fs.ErrNotExist inside, where there is none;
// what is no regular file (reading a pipe could wait for ever) or larger than
// MaxSize is refused.
func Read(path string) (string, error) {
	return ReadBounded(path, MaxSize)
}

// ReadBounded is Read with a bound of its own, in bytes.
func ReadBounded(path string, most int64) (string, error) {
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
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return "", err
	}
	if int64(len(b)) > most {
		return "", &os.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d bytes", most)}
	}
	return string(b), nil
}
