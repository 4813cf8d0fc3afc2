package backup

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Restored is what Restore has checked.
type Restored struct {
	Runs    int
	Files   int      // that the history names and that are there
	Missing []string // some of the files that the history names and that are not there
	Lost    int      // the number of them
}

// mostMissing is how many names of missing files a Restored has.
const mostMissing = 20

// restoring is the name of the history until everything is in place.
const restoring = dbName + ".restoring"

// NotEmptyError reports that the target of a backup or a restore has files.
type NotEmptyError struct{ Dir, Entry string }

func (e *NotEmptyError) Error() string {
	return fmt.Sprintf("the folder %s is not empty: it has %q", e.Dir, e.Entry)
}

// Restore copies a backup into a state directory, which must be empty or not exist, and checks it: the whole history, and that
// every file is there that it names. If it fails, it leaves the directory empty. Errors: a *NotEmptyError, a *sqlite.Error.
func Restore(ctx context.Context, from, state string) (r Restored, err error) {
	if state, err = filepath.Abs(state); err != nil {
		return r, err
	}
	in, err := open(from)
	if err != nil {
		return r, fmt.Errorf("cannot read the backup: %w", err)
	}
	defer in.Close()
	root, err := emptyFolder(state)
	if err != nil {
		return r, err
	}
	defer root.Close()
	m, err := unpack(in, root)
	if err == nil {
		r, err = check(ctx, m, state)
	}
	if err == nil {
		err = artifact.Moved(state, m.State)
	}
	if err == nil {
		err = errors.Join(root.Remove(manifestName), complete(root))
	}
	if err != nil {
		empty(root)
		return r, fmt.Errorf("cannot restore %s: %w", from, err)
	}
	return r, nil
}

// complete gives the history its name, when everything else is in place.
func complete(root *os.Root) error { return root.Rename(restoring, dbName) }

// open returns the archive of a backup file or folder.
func open(from string) (io.ReadCloser, error) {
	if info, err := os.Stat(from); err != nil {
		return nil, err
	} else if info.IsDir() {
		return openFolder(from)
	}
	f, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s is not a backup of flowrun: %w", from, err)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

// openFolder returns a backup folder as an archive.
func openFolder(from string) (io.ReadCloser, error) {
	for _, name := range []string{manifestName, dbName} {
		if _, err := os.Stat(filepath.Join(from, name)); err != nil {
			return nil, fmt.Errorf("%s is not a backup of flowrun: %w", from, err)
		}
	}
	from, err := filepath.Abs(from)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		p := newPacker(w)
		err := p.file(filepath.Join(from, manifestName), manifestName)
		for _, name := range append(folders[:], runsName) {
			err = errors.Join(err, p.folder(from, name))
		}
		w.CloseWithError(errors.Join(err, p.file(filepath.Join(from, dbName), dbName), p.Close()))
	}()
	return r, nil
}

// emptyFolder makes a folder, or opens one that is empty.
func emptyFolder(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, &NotEmptyError{dir, entries[0].Name()}
	}
	return os.OpenRoot(dir)
}

// empty removes everything from a folder that was empty.
func empty(root *os.Root) {
	entries, _ := fs.ReadDir(root.FS(), ".")
	for _, e := range entries {
		root.RemoveAll(e.Name())
	}
}

// unpack writes the files of an archive into a folder, without replacing any. The history has the name restoring.
func unpack(in io.Reader, root *os.Root) (m manifest, err error) {
	t := tar.NewReader(in)
	last := ""
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			last = h.Name
			err = unpackEntry(t, h, root, &m)
		}
		if err != nil {
			return m, err
		}
	}
	if _, err := io.Copy(io.Discard, in); err != nil { // so that the checksum of gzip is read
		return m, err
	}
	switch {
	case m.Format == 0:
		return m, errors.New("it is not a backup of flowrun: it has no manifest")
	case m.Format > format:
		return m, fmt.Errorf("a newer version of flowrun (%s) made the backup; use that version", m.Version)
	case last != dbName:
		return m, errors.New("it is incomplete: the history is missing")
	}
	return m, nil
}

func unpackEntry(t io.Reader, h *tar.Header, root *os.Root, m *manifest) error {
	top, _, _ := strings.Cut(h.Name, "/")
	if path.Clean(h.Name) != h.Name || !fs.ValidPath(h.Name) || !slices.Contains(append(folders[:], manifestName, runsName, dbName), top) {
		return fmt.Errorf("the backup has a file that is not part of one: %q", h.Name)
	}
	name := filepath.FromSlash(h.Name)
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o700)
	case tar.TypeLink:
		if !fs.ValidPath(h.Linkname) {
			return fmt.Errorf("the backup has a link that is not part of one: %q", h.Linkname)
		}
		return root.Link(filepath.FromSlash(h.Linkname), name)
	case tar.TypeReg:
	default:
		return fmt.Errorf("the backup has a file that is not part of one: %q", h.Name)
	}
	if h.Name == dbName {
		name = restoring
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fs.FileMode(h.Mode)&0o700|0o600)
	if err != nil {
		return err
	}
	var to io.Writer = f
	if h.Name == manifestName {
		text := &strings.Builder{}
		to = io.MultiWriter(f, text)
		defer func() { _ = value.DecodeJSON(text.String(), m) }() // unpack misses the format
	}
	_, err = io.Copy(to, t)
	if err == nil && h.Name == dbName {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// check reads the whole history, moves the paths in it to the new state directory, and looks for the files that it names.
func check(ctx context.Context, m manifest, state string) (r Restored, err error) {
	c, err := sqlite.OpenCopy(ctx, filepath.Join(state, restoring))
	if err != nil {
		return r, err
	}
	if err = c.Check(ctx); err == nil {
		k := checker{from: m.State, to: state, restored: &r}
		r.Runs, err = c.EachTurn(ctx, func(_ string, events []dag.Event) (bool, error) { return k.events(events), nil })
	}
	return r, errors.Join(err, c.Close())
}

// checker moves paths from one state directory to another, and looks for their files.
type checker struct {
	from, to string
	restored *Restored
}

// events reports whether it has changed a path.
func (k checker) events(events []dag.Event) (changed bool) {
	for i := range events {
		r := events[i].Result
		if r == nil {
			continue
		}
		for _, o := range []*dag.Output{r.Stdout, r.Stderr} {
			if o != nil && k.move(&o.File) {
				changed = true
			}
			if o != nil {
				k.look(o.File)
			}
		}
		list := slices.Clone(r.Artifacts())
		moved := false
		for i := range list {
			a := &list[i]
			a.Paths = slices.Clone(a.Paths)
			moved = k.move(&a.Path) || moved
			for j := range a.Paths {
				moved = k.move(&a.Paths[j]) || moved
			}
			if a.Digest != "" && (a.Expires.IsZero() || time.Now().Before(a.Expires)) { // otherwise it names those of other steps
				k.look(a.Path)
			}
		}
		if moved {
			r.SetArtifacts(list)
			changed = true
		}
	}
	return changed
}

// move moves a path, if it is in the state directory, and reports whether that changes it.
func (k checker) move(path *string) bool {
	rest, inside := strings.CutPrefix(*path, k.from)
	if !inside || rest == "" || !os.IsPathSeparator(rest[0]) || k.from == k.to {
		return false
	}
	*path = k.to + rest
	return true
}

// look looks for a file of the state directory.
func (k checker) look(path string) {
	if rest, inside := strings.CutPrefix(path, k.to); !inside || rest == "" || !os.IsPathSeparator(rest[0]) {
		return
	}
	if _, err := os.Lstat(path); err == nil {
		k.restored.Files++
	} else if k.restored.Lost++; len(k.restored.Missing) < mostMissing {
		k.restored.Missing = append(k.restored.Missing, path)
	}
}
