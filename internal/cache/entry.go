package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Version is of the layout and of what goes into hashes. It belongs into every key.
const Version = 1

// Manifest is what is known of a kept result.
type Manifest struct {
	Version    int         `json:"version"`
	Created    time.Time   `json:"created"`
	Components []Component `json:"components"`
	ExitCode   int         `json:"exit_code"`
	Stdout     *Stream     `json:"stdout,omitempty"` // nil: nothing was printed
	Stderr     *Stream     `json:"stderr,omitempty"`
	Value      bool        `json:"value,omitempty"` // the output is a value in JSON, of a step written in Go
	Outputs    []Item      `json:"outputs"`
}

// Stream is something that was printed.
type Stream struct {
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// Entry is a kept result.
type Entry struct {
	Manifest
	store *Store
	dir   string
}

// ErrNone says that no result is kept.
var ErrNone = errors.New("no cached result")

// ErrDamaged says that a kept result is not as it was written.
var ErrDamaged = errors.New("the cached result is damaged")

const (
	manifestFile = "manifest.json"
	stdoutFile   = "stdout"
	stderrFile   = "stderr"
	filesFolder  = "files"
)

// Find is the result kept under a key. Errors: ErrNone, ErrDamaged or what keeps it
// from being read, wrapped.
func (st *Step) Find(key string) (*Entry, error) { return st.load(key) }

// Latest is the result that was used last, ErrNone where there is none.
func (st *Step) Latest() (*Entry, error) {
	all, err := st.entries()
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if found, err := st.load(e.name); err == nil {
			return found, nil
		}
	}
	return nil, ErrNone
}

func (st *Step) load(name string) (*Entry, error) {
	e := &Entry{store: st.store, dir: filepath.Join(st.dir, name)}
	text, err := os.ReadFile(filepath.Join(e.dir, manifestFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrNone
	case err != nil:
		return nil, fmt.Errorf("cannot read a cached result: %w", err)
	}
	if err := json.Unmarshal(text, &e.Manifest); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if e.Version != Version {
		return nil, ErrNone
	}
	return e, nil
}

// used is an entry's folder and when it was last used.
type used struct {
	name string
	at   time.Time
}

// entries are the step's results, the last used first.
func (st *Step) entries() ([]used, error) {
	folders, err := os.ReadDir(st.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list the cached results: %w", err)
	}
	var list []used
	for _, f := range folders {
		if isTemp(f.Name()) {
			continue
		}
		if info, err := os.Stat(filepath.Join(st.dir, f.Name(), manifestFile)); err == nil {
			list = append(list, used{f.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b used) int { return b.at.Compare(a.at) })
	return list, nil
}

// Touch notes that the result was used now. That it cannot be noted does no harm.
func (e *Entry) Touch() {
	now := e.store.now()
	_ = os.Chtimes(filepath.Join(e.dir, manifestFile), now, now)
}

// Printed are the files that hold what was printed, "" where nothing was. Error:
// ErrDamaged, wrapped, when one is not as it was written.
func (e *Entry) Printed(ctx context.Context) (stdout, stderr string, err error) {
	if stdout, err = e.stream(ctx, stdoutFile, e.Stdout); err == nil {
		stderr, err = e.stream(ctx, stderrFile, e.Stderr)
	}
	return stdout, stderr, err
}

func (e *Entry) stream(ctx context.Context, name string, s *Stream) (string, error) {
	if s == nil {
		return "", nil
	}
	file := filepath.Join(e.dir, name)
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer f.Close()
	digest, err := e.store.digest(ctx, f)
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read the cached log: %w", err)
	case digest != s.Digest:
		return "", fmt.Errorf("%w: %s has changed", ErrDamaged, name)
	}
	return file, nil
}

// copyOf is the file that holds the copy of an output.
func (e *Entry) copyOf(i int) string { return filepath.Join(e.dir, filesFolder, strconv.Itoa(i)) }
