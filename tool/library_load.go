package tool

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/flowrun/flowrun/internal/diagnostic"
)

func (l *Library) registeredAll() []*Definition {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.added)
}

// Load reads the definition in a file. The error is why the file could not be read; what
// is wrong inside is in the Diagnostics.
func (l *Library) Load(path string) (*Definition, Diagnostics, error) {
	return l.load(path, ScopeFile)
}

// Read reads a definition from a text as if it stood in a file, which is not opened, in
// a scope. The Definition is never nil; see Decode.
func (l *Library) Read(file string, scope Scope, text []byte) (*Definition, Diagnostics) {
	return l.decode(file, scope, text)
}

// load reads a file, or takes what was read from it before. Two goroutines that
// miss at once both read it, which costs less than waiting under a lock.
func (l *Library) load(path string, scope Scope) (*Definition, Diagnostics, error) {
	c, err := l.loaded(path, scope)
	return c.def, c.found, err
}

func (l *Library) loaded(path string, scope Scope) (loaded, error) {
	key := string(scope) + "\x00" + path
	l.mu.Lock()
	c, ok := l.cache[key]
	l.mu.Unlock()
	// Of what has errors nobody knows all that it would be made of.
	ok = ok && !(l.custom(path) != nil && (c.found.Err() != nil || c.moved()))
	if ok && c.stamp.settled(c.read) {
		if info, err := os.Stat(path); err == nil && stampOf(info) == c.stamp {
			return c, nil
		}
	}
	now := l.now()
	src, info, err := read(path)
	if err != nil {
		return loaded{}, err
	}
	if !ok || !bytes.Equal(src, c.src) {
		c.def, c.found = l.decode(path, scope, src)
		c.files = stampsOf(c.def.Files)
	}
	c.stamp, c.read, c.src = stampOf(info), now, src
	l.mu.Lock()
	l.cache[key] = c
	l.mu.Unlock()
	return c, nil
}

// decode reads the bytes of a file.
func (l *Library) decode(path string, scope Scope, src []byte) (*Definition, Diagnostics) {
	def, found := l.loader(path)(path, src)
	if def == nil {
		def = &Definition{Name: stem(path), File: path, Source: src}
	}
	def.Scope = scope
	return def, found
}

func (l *Library) loader(path string) Loader {
	if load := l.custom(path); load != nil {
		return load
	}
	return Decode
}

// custom is the loader that Handle gave for a file, nil for none.
func (l *Library) custom(path string) Loader {
	e := l.extension(path)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loaders[e]
}

// read reads a regular file. It looks first and opens second, so that a pipe or
// a device is refused and not waited for; and it reads one byte more than may
// be, so that Decode can tell that a file is too large.
func read(path string) ([]byte, fs.FileInfo, error) {
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
	src.Grow(int(min(info.Size(), MaxFileSize)) + bytes.MinRead)
	if _, err := src.ReadFrom(io.LimitReader(f, MaxFileSize+1+int64(len("\ufeff")))); err != nil {
		return nil, nil, readError(path, err)
	}
	return src.Bytes(), info, nil
}

// readError says which file could not be read and why, once.
func readError(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot read the definition %s: %w", diagnostic.Quote(path), err)
}

type notRegularError struct{ mode fs.FileMode }

// Is lets callers tell a folder apart: errors.Is(err, syscall.EISDIR).
func (e *notRegularError) Is(target error) bool { return target == syscall.EISDIR && e.mode.IsDir() }

func (e *notRegularError) Error() string {
	what := "a device"
	switch {
	case e.mode.IsDir():
		what = "a directory"
	case e.mode&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case e.mode&fs.ModeSocket != 0:
		what = "a socket"
	}
	return "it is " + what + ", not a regular file"
}
