package library

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Load reads the definition in a file. It fails if the file cannot be read; problems in its contents are in the
// Diagnostics.
func (l *Library) Load(path string) (*tool.Definition, tool.Diagnostics, error) {
	return l.reader.load(path, tool.ScopeFile)
}

// Read reads a definition from text, as if it were the content of the named file in the given scope. The file is not
// opened. The Definition is never nil, and the list has all problems, warnings too: tool.Diagnostics(list).Err() is nil if
// it can be used.
func (l *Library) Read(file string, scope tool.Scope, text []byte) (*tool.Definition, []tool.Diagnostic) {
	return l.formats.decode(file, scope, text)
}

// readRegularFile reads a regular file. It checks the type of the file before it opens it, because opening a pipe or a device
// could block. It reads one byte more than the maximum, so that Decode can detect that the file is too large.
func readRegularFile(path string) ([]byte, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, readError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, readError(path, &notRegularError{info.Mode()})
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, readError(path, err)
	}
	defer f.Close()
	var src bytes.Buffer
	src.Grow(int(min(info.Size(), diagnostic.MaxFileSize)) + bytes.MinRead)
	if _, err := src.ReadFrom(io.LimitReader(f, diagnostic.MaxFileSize+1+int64(len("\ufeff")))); err != nil {
		return nil, nil, readError(path, err)
	}
	return src.Bytes(), info, nil
}

// readError returns an error with the path and the reason. The path of a PathError is not repeated.
func readError(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot read the definition %s: %w", diagnostic.Quote(path), err)
}

type notRegularError struct{ mode fs.FileMode }

// Is makes errors.Is(err, syscall.EISDIR) true for a directory.
func (e *notRegularError) Is(target error) bool { return target == syscall.EISDIR && e.mode.IsDir() }

func (e *notRegularError) Error() string {
	what := "a device"
	switch {
	case e.mode.IsDir():
		what = "a folder"
	case e.mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case e.mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return "it is " + what + ", not a regular file"
}
