package artifact

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/cache"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Limits bound what is kept. A zero limit is the default.
type Limits struct {
	MaxFileSize int64 // bytes of one file
	MaxSize     int64 // bytes of all artifacts of a run
	MaxFiles    int   // files and folders of one artifact
}

// Defaults of Limits.
const (
	DefaultMaxFileSize = 1 << 30
	DefaultMaxSize     = 10 << 30
	DefaultMaxFiles    = 10_000
)

// Run keeps the artifacts of one run.
type Run struct {
	state  func() (string, error)
	id     string
	limits Limits

	mu      sync.Mutex
	sizes   map[string]int64 // by the folder of the step; nil until it is needed
	total   int64            // bytes, with what is being written
	pruning sync.Once
}

// NewRun returns the artifacts of a run. state returns the state folder; it is called when the first artifact is kept.
func NewRun(state func() (string, error), id string, l Limits) *Run {
	l.MaxFileSize = cmp.Or(l.MaxFileSize, DefaultMaxFileSize)
	l.MaxSize = cmp.Or(l.MaxSize, DefaultMaxSize)
	l.MaxFiles = cmp.Or(l.MaxFiles, DefaultMaxFiles)
	return &Run{state: state, id: id, limits: l}
}

// Spec is an artifact to keep.
type Spec struct {
	Name      string
	Pattern   string        // of files, relative to the directory of the step
	Optional  bool          // nothing is kept if no file matches
	Retention time.Duration // 0: as long as the run
}

// Source is the step whose files are kept.
type Source struct {
	Step dag.ID
	Dir  string
	// Rights, if set, calls a function with the rights of the step, so that nothing is read that the step could not.
	Rights func(func() error) error
	// Secret, if set, reports whether a text contains a secret; nothing is kept then.
	Secret func(io.Reader) (bool, error)
	// Keeps, if set, reports whether a file is the step's own. On an error nothing is kept.
	Keeps func(root *os.Root, path string) (bool, error)
	// Reduced means that the step runs as another user, whose files alone may have several links.
	Reduced bool
}

// Keep keeps artifacts of a step, instead of those of an earlier attempt. missing are those of which no file was found,
// and which are not optional. On an error nothing is kept; it names the artifact.
func (r *Run) Keep(ctx context.Context, from Source, specs []Spec) (kept []dag.Artifact, missing []Spec, err error) {
	state, err := r.state()
	if err != nil {
		return nil, nil, err
	}
	r.pruning.Do(func() { pruneDaily(state) })
	folder := rundir.ArtifactFolder(state, r.id)
	name := stepFolder(from.Step)
	r.count(folder)
	w := &writer{run: r, store: filepath.Join(state, storeFolder), from: from, name: name, dir: filepath.Join(folder, tempNew+name)}
	defer func() { r.release(w, err == nil) }()
	if err := w.begin(); err != nil {
		return nil, nil, fmt.Errorf("cannot keep artifacts: %w", err)
	}
	defer os.RemoveAll(w.dir)
	defer w.close()
	to := filepath.Join(folder, name)
	for _, s := range specs {
		m, err := w.keep(ctx, s)
		switch gone := new(cache.MissingError); {
		case errors.As(err, &gone):
			if !s.Optional {
				missing = append(missing, s)
			}
		case err != nil:
			return nil, nil, fmt.Errorf("cannot keep the artifact %s: %w", s.Name, err)
		default:
			if err := w.note(m, filepath.Join(to, s.Name)); err != nil {
				return nil, nil, fmt.Errorf("cannot keep the artifact %s: %w", s.Name, err)
			}
			kept = append(kept, m.result(to))
		}
	}
	passPoint("written")
	if err := replace(w.dir, to, len(kept) > 0); err != nil {
		return nil, nil, fmt.Errorf("cannot keep artifacts: %w", err)
	}
	return kept, missing, nil
}

// count reads the sizes of the artifacts that the run has, before the first is kept in this process.
func (r *Run) count(folder string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sizes != nil {
		return
	}
	r.sizes = map[string]int64{}
	folders, _ := os.ReadDir(folder) // an error is reported when the artifacts are written
	for _, s := range folders {
		if !strings.HasPrefix(s.Name(), ".") {
			r.sizes[s.Name()] = sizeOf(filepath.Join(folder, s.Name()))
			r.total += r.sizes[s.Name()]
		}
	}
}

// take reports whether the run may keep that many bytes more. Those of an earlier attempt of the step do not count.
func (r *Run) take(size int64, w *writer) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total += size
	w.size += size
	return r.total-r.sizes[w.name] <= r.limits.MaxSize
}

// release is called when the artifacts of a step are in their place, or could not be kept.
func (r *Run) release(w *writer, kept bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	gone := w.size
	if kept {
		gone, r.sizes[w.name] = r.sizes[w.name], w.size
	}
	r.total -= gone
}

// sizeOf returns the bytes of the artifacts in the folder of a step.
func sizeOf(dir string) (sum int64) {
	manifests, _ := filepath.Glob(filepath.Join(strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir), "*"+manifestExt))
	for _, file := range manifests {
		var m Manifest
		if text, err := ownership.ReadFile(file); err == nil && json.Unmarshal(text, &m) == nil {
			sum += m.result("").Size
		}
	}
	return sum
}

// replace puts the new artifacts of a step in the place of older ones.
func replace(from, to string, any bool) error {
	old := filepath.Join(filepath.Dir(to), tempOld+filepath.Base(to))
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(to, old); err == nil {
		passPoint("aside")
		defer os.RemoveAll(old)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !any {
		return nil
	}
	err := os.Rename(from, to)
	passPoint("placed")
	return errors.Join(err, atomicfile.SyncFolder(filepath.Dir(to)))
}

// Prefixes of names that are not, or no longer, artifacts.
const (
	tempNew = ".new-"
	tempOld = ".old-"
)

// writer writes the artifacts of one step to a folder.
type writer struct {
	run   *Run
	store string
	from  Source
	name  string // of the step's folder
	dir   string
	root  *os.Root // the directory of the step
	size  int64    // bytes so far
}

func (w *writer) begin() error {
	if err := os.RemoveAll(w.dir); err != nil { // left by a killed process
		return err
	}
	if err := errors.Join(os.MkdirAll(w.store, 0o700), os.MkdirAll(w.dir, 0o700)); err != nil {
		return err
	}
	passPoint("begun")
	var err error
	w.root, err = os.OpenRoot(w.from.Dir)
	return err
}

func (w *writer) close() {
	if w.root != nil {
		w.root.Close()
	}
}

// keep writes one artifact.
func (w *writer) keep(ctx context.Context, s Spec) (*Manifest, error) {
	pattern, items, err := cache.Collect(ctx, w.root, w.from.Dir, s.Pattern, w.run.limits.MaxFiles)
	if errors.Is(err, cache.ErrTooMany) {
		return nil, fmt.Errorf("%s matches more than %d files; name fewer files, or raise the setting artifacts.max-files", s.Pattern, w.run.limits.MaxFiles)
	}
	if err != nil {
		return nil, err
	}
	base, single := baseOf(pattern, items)
	m := &Manifest{Step: w.from.Step, Name: s.Name, Single: single, Files: []File{}}
	if s.Retention > 0 {
		m.Expires = time.Now().Add(s.Retention).UTC().Truncate(time.Second)
	}
	if err := os.Mkdir(filepath.Join(w.dir, s.Name), 0o700); err != nil {
		return nil, err
	}
	for _, item := range items {
		if own, err := w.owns(item); err != nil || !own {
			if err != nil {
				return nil, err
			}
			continue
		}
		rel, inside := strings.CutPrefix(item.Path, base)
		if !inside || rel == "." { // the folder itself
			continue
		}
		f, err := w.item(ctx, item, filepath.Join(w.dir, s.Name), rel, single)
		if err != nil {
			return nil, err
		}
		m.Files = append(m.Files, f)
	}
	if m.result("").Files == 0 { // an empty folder
		return nil, errors.Join(&cache.MissingError{Patterns: []string{pattern}}, os.RemoveAll(filepath.Join(w.dir, s.Name)))
	}
	return m, nil
}

// owns reports whether a file is the step's own. A folder may be that of several steps.
func (w *writer) owns(item cache.Item) (bool, error) {
	if w.from.Keeps == nil || item.Type == cache.Folder {
		return true, nil
	}
	return w.from.Keeps(w.root, item.Path)
}

// baseOf returns what the paths of the items in an artifact are relative to, with a / at its end, and whether the
// pattern is the name of one file.
func baseOf(pattern string, items []cache.Item) (base string, single bool) {
	first := items[0]
	switch single = cache.IsName(pattern) && first.Type != cache.Folder; {
	case single:
		base = path.Dir(first.Path)
	case cache.IsName(pattern):
		base = first.Path
	default:
		base, _, _ = cache.Base(pattern) // it was checked when the items were collected
	}
	if base == "." || base == "" {
		return "", single
	}
	return base + "/", single
}

// item writes one file, folder or link.
func (w *writer) item(ctx context.Context, item cache.Item, dir, rel string, single bool) (File, error) {
	to := filepath.Join(dir, filepath.FromSlash(rel))
	if err := w.hidesNoSecret(rel + "\n" + item.Target); err != nil {
		return File{}, fmt.Errorf("a file name %w", err)
	}
	if item.Type == cache.Folder {
		return File{Path: rel, Folder: true}, os.MkdirAll(to, 0o700)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return File{}, err
	}
	if item.Type == cache.Link && !single {
		if inner := path.Join(path.Dir(rel), filepath.ToSlash(item.Target)); inner == ".." || strings.HasPrefix(inner, "../") {
			return File{}, fmt.Errorf("%s is a link to %s, outside the artifact; keep the file itself", quoted(item.Path), quoted(item.Target))
		}
		return File{Path: rel, Target: item.Target}, os.Symlink(item.Target, to)
	}
	f, err := w.file(ctx, item.Path, to)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", quoted(item.Path), err)
	}
	f.Path = rel
	if !w.run.take(f.Size, w) {
		return File{}, fmt.Errorf("the artifacts of the run are larger than %d bytes; keep fewer files, or raise the setting artifacts.max-size", w.run.limits.MaxSize)
	}
	return f, nil
}

func (w *writer) hidesNoSecret(text string) error {
	if w.from.Secret == nil {
		return nil
	}
	found, err := w.from.Secret(strings.NewReader(text))
	if err == nil && found {
		err = errSecret
	}
	return err
}

var errSecret = errors.New("contains a secret; write the secret to no file that is kept")

// note writes the manifest, and what is needed to remove the artifact in time.
func (w *writer) note(m *Manifest, place string) error {
	text, err := json.Marshal(m)
	if err == nil {
		err = atomicfile.File{Path: filepath.Join(w.dir, m.Name+manifestExt), Mode: 0o600}.WriteText(text)
	}
	if err == nil && !m.Expires.IsZero() {
		err = noteExpiry(w.store, m.Expires, place)
	}
	return err
}

func quoted(text string) string { return fmt.Sprintf("%q", text) }
