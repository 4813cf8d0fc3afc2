package library

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

func (l *Library) registeredAll() []*tool.Definition {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.added)
}

// Load reads the definition in a file. It fails if the file cannot be read; problems in its contents are in the
// Diagnostics.
func (l *Library) Load(path string) (*tool.Definition, tool.Diagnostics, error) {
	return l.load(path, tool.ScopeFile)
}

// Read reads a definition from text, as if it were the content of the named file in the given scope. The file is not
// opened. The Definition is never nil; see Decode.
func (l *Library) Read(file string, scope tool.Scope, text []byte) (*tool.Definition, tool.Diagnostics) {
	return l.decode(file, scope, text)
}

// load reads a file, or returns it from the cache. Two goroutines that both miss the cache both read the file: this
// costs less than waiting for a lock.
func (l *Library) load(path string, scope tool.Scope) (*tool.Definition, tool.Diagnostics, error) {
	c, err := l.loadCached(path, scope)
	return c.def, c.found, err
}

func (l *Library) loadCached(path string, scope tool.Scope) (cachedFile, error) {
	key := string(scope) + "\x00" + path
	l.mu.Lock()
	c, ok := l.cache[key]
	l.mu.Unlock()
	// If a definition has errors, it is not known which further files it would be made of.
	ok = ok && !(l.customLoader(path) != nil && (c.found.Err() != nil || c.stale()))
	if ok && c.stamp.settled(c.read) {
		if info, err := os.Stat(path); err == nil && stampOf(info) == c.stamp {
			return c, nil
		}
	}
	now := l.now()
	src, info, err := readRegularFile(path)
	if err != nil {
		return cachedFile{}, err
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

// decode reads a definition from the contents of a file.
func (l *Library) decode(path string, scope tool.Scope, src []byte) (*tool.Definition, tool.Diagnostics) {
	def, found := l.loaderFor(path)(path, src)
	if def == nil {
		def = &tool.Definition{Name: tool.Stem(path), File: path, Source: src}
	}
	def.Scope = scope
	return def, found
}

func (l *Library) loaderFor(path string) tool.Loader {
	if load := l.customLoader(path); load != nil {
		return load
	}
	return tool.Decode
}

// customLoader returns the loader that Handle registered for a file, or nil.
func (l *Library) customLoader(path string) tool.Loader {
	e := l.extension(path)
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loaders[e]
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
	src.Grow(int(min(info.Size(), tool.MaxFileSize)) + bytes.MinRead)
	if _, err := src.ReadFrom(io.LimitReader(f, tool.MaxFileSize+1+int64(len("\ufeff")))); err != nil {
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
