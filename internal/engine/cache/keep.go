package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	maxKept        = 10        // cached results per step
	abandonedAfter = time.Hour // age at which a temporary file counts as left behind
)

// Draft is a result to be stored.
type Draft struct {
	Components []Component
	ExitCode   int
	Stdout     Printed
	Stderr     Printed
	Value      bool
	Declared   json.RawMessage // see Manifest
	Dir        string          // the step's working directory
	Outputs    []string        // patterns; each must match at least one file
	Optional   []string        // patterns of outputs that may match nothing
	// Before is what Outputs and Optional matched before the step ran. Only what was written since is stored; nil means
	// that all of it was.
	Before *Snapshot
	// Owner, if set, says whose a file is that was written or removed since Before. On an error the result is not stored.
	Owner func(path string) (Owner, error)
	// Writers belongs to the run of the step; nil for a step alone.
	Writers *Writers
	// Refuse, if set, inspects every name, link target and content of an output before it is stored. If it returns an
	// error, the result is not stored.
	Refuse func(r io.Reader) error
}

// Owner says whose a file is that changed while a step ran.
type Owner uint8

// The owners.
const (
	OwnFile      Owner = iota // the step's
	DoubtfulFile              // the step's, or that of a step which does not say what it writes
	OtherFile                 // another step's
)

// Printed is an output stream: the first Size bytes of File, or Text if there is no File.
type Printed struct {
	File string
	Size int64
	Text string
}

// Keep stores a result, and replaces one with the same key. Errors: a *PatternError, a *MissingError, an error of
// Refuse, a read or write error. On an error nothing is stored.
func (st *Step) Keep(ctx context.Context, d Draft) error {
	if err := st.store.ready(); err != nil {
		return fmt.Errorf("cannot cache the result: %w", err)
	}
	st.store.prune()
	if err := os.MkdirAll(st.dir, 0o700); err != nil {
		return fmt.Errorf("cannot cache the result: %w", err)
	}
	temp, err := os.MkdirTemp(st.dir, tempNew)
	if err != nil {
		return fmt.Errorf("cannot cache the result: %w", err)
	}
	defer os.RemoveAll(temp)
	passPoint("begun")
	w := &writer{store: st.store, step: st, dir: temp, draft: &d}
	m, err := w.write(ctx)
	if err != nil {
		return err
	}
	passPoint("written")
	if err := errors.Join(st.place(temp, st.store.Key(d.Components)), st.notePlace(m)); err != nil {
		return fmt.Errorf("cannot cache the result: %w", err)
	}
	d.Writers.note(st, m)
	st.prune()
	return nil
}

// Prefixes of names that are not, or no longer, results.
const (
	tempNew = ".new-"
	tempOld = ".old-"
)

func isTemp(name string) bool { return strings.HasPrefix(name, ".") }

// place renames a written result to its final name and removes an older one of that name. If another process was
// faster, its result is kept: it has the same key.
func (st *Step) place(temp, key string) error {
	to := filepath.Join(st.dir, key)
	old := filepath.Join(st.dir, tempOld+filepath.Base(temp))
	err := os.Rename(to, old)
	if err == nil {
		defer os.RemoveAll(old)
		passPoint("aside")
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err = os.Rename(temp, to)
	passPoint("placed")
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if _, there := os.Stat(filepath.Join(to, manifestFile)); there == nil { // Windows reports access denied instead of ErrExist
		return nil
	}
	return err
}

// prune removes the least recently used results. Those that cannot be removed now are removed at a later call.
func (st *Step) prune() {
	all, err := st.entries()
	if err != nil || len(all) <= maxKept {
		return
	}
	for _, e := range all[maxKept:] {
		st.remove(e.name)
	}
}

// remove removes a result as a whole: other processes never see a part of it.
func (st *Step) remove(name string) {
	gone := filepath.Join(st.dir, tempOld+name)
	if os.Rename(filepath.Join(st.dir, name), gone) == nil {
		os.RemoveAll(gone)
	}
}

// Sweep removes what killed processes have left of the step, in its cache folder and in the directory in which it is
// about to run.
func (st *Step) Sweep(dir string) {
	folders, err := os.ReadDir(st.dir)
	if err != nil {
		return
	}
	for _, f := range folders {
		info, err := f.Info()
		if err != nil || !isTemp(f.Name()) {
			continue
		}
		file, age := filepath.Join(st.dir, f.Name()), st.store.now().Sub(info.ModTime())
		switch {
		case strings.HasPrefix(f.Name(), tempRestoring) && age < maxUnused:
			st.cleanUpRestore(file, dir, age > abandonedAfter)
		case age > abandonedAfter:
			os.RemoveAll(file)
		}
	}
}

// writer writes one result to a folder.
type writer struct {
	store *Store
	step  *Step
	dir   string
	draft *Draft
}

func (w *writer) write(ctx context.Context) (*Manifest, error) {
	d := w.draft
	m := &Manifest{Version: Version, Created: w.store.now().UTC(), Components: d.Components, ExitCode: d.ExitCode, Value: d.Value, Declared: d.Declared, Dir: w.store.Sum(d.Dir), Outputs: []Item{}}
	var err error
	if m.Stdout, err = w.stream(ctx, stdoutFile, d.Stdout); err != nil {
		return nil, err
	}
	if m.Stderr, err = w.stream(ctx, stderrFile, d.Stderr); err != nil {
		return nil, err
	}
	if err = w.outputs(ctx, m); err != nil {
		return nil, err
	}
	passPoint("copied")
	text, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(filepath.Join(w.dir, manifestFile), text, 0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot cache the result: %w", err)
	}
	return m, nil
}

func (w *writer) stream(ctx context.Context, name string, p Printed) (*Stream, error) {
	var from io.Reader = strings.NewReader(p.Text)
	switch {
	case p.File != "":
		f, err := os.Open(p.File)
		if err != nil {
			return nil, fmt.Errorf("cannot cache the step's log: %w", err)
		}
		defer f.Close()
		from = io.LimitReader(f, p.Size)
	case p.Text == "":
		return nil, nil
	}
	size, digest, err := w.copy(ctx, name, from)
	if err == nil && p.File != "" && size != p.Size {
		err = fmt.Errorf("its log has %d bytes, not %d", size, p.Size)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot cache the step's log: %w", err)
	}
	return &Stream{size, digest}, nil
}

// outputs copies the files that the step has written, and notes what else it left and removed.
func (w *writer) outputs(ctx context.Context, m *Manifest) error {
	d := w.draft
	if len(d.Outputs)+len(d.Optional) == 0 {
		return nil
	}
	patterns, err := OutputPatterns(d.Dir, d.Outputs)
	if err != nil {
		return err
	}
	optional, err := OutputPatterns(d.Dir, d.Optional)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return fmt.Errorf("cannot cache the outputs: %w", err)
	}
	defer root.Close()
	c := newCollector(ctx, root, unbounded())
	items, err := c.collect(patterns, optional)
	if missing := new(MissingError); errors.As(err, &missing) {
		return err
	} else if err != nil {
		return fmt.Errorf("cannot cache the outputs: %w", err)
	}
	left, err := w.sort(items, c.stamps, m)
	if err != nil {
		return err
	}
	if m.Left, err = w.left(ctx, root, left); err != nil {
		return fmt.Errorf("cannot cache the outputs: %w", err)
	}
	if err := os.Mkdir(filepath.Join(w.dir, filesFolder), 0o700); err != nil {
		return fmt.Errorf("cannot cache the outputs: %w", err)
	}
	return each(ctx, len(m.Outputs), func(i int) error {
		if err := w.output(ctx, root, &m.Outputs[i], i); err != nil {
			return fmt.Errorf("cannot cache the output %s: %w", m.Outputs[i].Path, err)
		}
		return nil
	})
}

func (w *writer) output(ctx context.Context, root *os.Root, item *Item, i int) error {
	if err := w.refuse(strings.NewReader(item.Path + "\n" + item.Target)); err != nil || item.Type != File {
		return err
	}
	f, err := root.Open(item.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := w.refuse(f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	item.Size, item.Digest, err = w.copy(ctx, filepath.Join(filesFolder, strconv.Itoa(i)), f)
	return err
}

func (w *writer) refuse(r io.Reader) error {
	if w.draft.Refuse == nil {
		return nil
	}
	return w.draft.Refuse(r)
}

// copy writes a file of the result.
func (w *writer) copy(ctx context.Context, name string, from io.Reader) (size int64, digest string, err error) {
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, "", err
	}
	h := w.store.hash()
	size, err = copyTo(ctx, io.MultiWriter(f, h), from)
	return size, sum(h), errors.Join(err, f.Close())
}
