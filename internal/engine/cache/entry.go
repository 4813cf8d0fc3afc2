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

	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Version is the version of the layout and of the hashes. It must be part of every key.
const Version = 2

// Manifest describes a cached result.
type Manifest struct {
	Version    int         `json:"version"`
	Created    time.Time   `json:"created"`
	Components []Component `json:"components"`
	ExitCode   int         `json:"exit_code"`
	Stdout     *Stream     `json:"stdout,omitempty"` // nil if nothing was printed
	Stderr     *Stream     `json:"stderr,omitempty"`
	Value      bool        `json:"value,omitempty"` // the output is a JSON value of a step written in Go
	Dir        string      `json:"dir"`             // hash of the step's directory
	Outputs    []Item      `json:"outputs"`
	// Left holds files that match the outputs, and that the step found and left as they were: those that an earlier run of
	// it wrote, and, with no more than their paths, those of nobody known.
	Left []Item `json:"left,omitempty"`
	// Removed holds what matched the outputs and was removed by the step; Absent what another step may have removed.
	Removed []string `json:"removed,omitempty"`
	Absent  []string `json:"absent,omitempty"`
	// Declared holds the declared outputs of the step, as a JSON object; nil for none.
	Declared json.RawMessage `json:"declared,omitempty"`
}

// MarshalJSON writes a Manifest so that UnmarshalJSON returns the same names of files, also those that are not UTF-8.
func (m Manifest) MarshalJSON() ([]byte, error) {
	type plain Manifest
	m.convert(rawtext.Encode)
	return json.Marshal(plain(m))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (m *Manifest) UnmarshalJSON(b []byte) error {
	type plain Manifest
	err := json.Unmarshal(b, (*plain)(m))
	m.convert(rawtext.Decode)
	return err
}

// convert encodes or decodes the names of files and variables.
func (m *Manifest) convert(text func(string) string) {
	m.Components = slices.Clone(m.Components)
	for i := range m.Components {
		m.Components[i].Name = text(m.Components[i].Name)
	}
	items := func(list []Item) []Item {
		list = slices.Clone(list)
		for i := range list {
			list[i].Path, list[i].Target = text(list[i].Path), text(list[i].Target)
		}
		return list
	}
	m.Outputs, m.Left = items(m.Outputs), items(m.Left)
	m.Removed, m.Absent = rawtext.List(m.Removed, text), rawtext.List(m.Absent, text)
}

// Stream describes a stored output stream.
type Stream struct {
	Size   int64  `json:"size"`
	Digest string `json:"digest"`
}

// Entry is a cached result.
type Entry struct {
	Manifest
	store *Store
	dir   string
}

// ErrNone reports that no result is stored.
var ErrNone = errors.New("no cached result")

// ErrDamaged reports that a cached result was changed after it was written.
var ErrDamaged = errors.New("the cached result is damaged")

const (
	manifestFile = "manifest.json"
	stdoutFile   = "stdout"
	stderrFile   = "stderr"
	filesFolder  = "files"
)

// Find returns the result stored under a key. Errors: ErrNone, ErrDamaged, or a read error, wrapped.
func (st *Step) Find(key string) (*Entry, error) { return st.load(key) }

// Latest returns the result that was used last, ErrNone if there is none.
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
	text, err := ownership.ReadFile(filepath.Join(e.dir, manifestFile))
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

// usage holds the folder of an entry and when the entry was last used.
type usage struct {
	name string
	at   time.Time
}

// entries returns the step's results, the most recently used first.
func (st *Step) entries() ([]usage, error) {
	folders, err := os.ReadDir(st.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list the cached results: %w", err)
	}
	var list []usage
	for _, f := range folders {
		if isTemp(f.Name()) {
			continue
		}
		if info, err := os.Stat(filepath.Join(st.dir, f.Name(), manifestFile)); err == nil {
			list = append(list, usage{f.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b usage) int { return b.at.Compare(a.at) })
	return list, nil
}

// Touch records that the result was used now. An error is ignored: the result may then be removed too early, which
// does no harm.
func (e *Entry) Touch() {
	now := e.store.now()
	_ = os.Chtimes(filepath.Join(e.dir, manifestFile), now, now)
}

// Printed returns the files that hold the streams, "" for an empty one. The error is ErrDamaged, wrapped, if a file
// was changed.
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
	f, err := ownership.OpenFile(file)
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

// copyOf returns the file that holds the copy of an output.
func (e *Entry) copyOf(i int) string { return filepath.Join(e.dir, filesFolder, strconv.Itoa(i)) }
