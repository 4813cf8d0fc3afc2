package cache

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Writers knows, for one run, the step whose cached result last wrote each file of a directory. It reads the results of
// a directory when it is first asked. The zero Writers is ready; it is safe for concurrent use.
type Writers struct {
	mu   sync.Mutex
	dirs map[string]map[string]written // by hash of the directory and path
}

// written is the last result that holds a file.
type written struct {
	step string
	at   time.Time
}

// placesFolder holds a folder for each directory, with an empty file for each step that has results there.
const placesFolder = "places"

// name is the name of the step's folder, which identifies it in the store.
func (st *Step) name() string { return filepath.Base(st.dir) }

// notePlace notes that the step has a result with outputs in a directory.
func (st *Step) notePlace(m *Manifest) error {
	if len(m.Outputs) == 0 {
		return nil
	}
	place := filepath.Join(st.store.dir, placesFolder, m.Dir)
	for {
		if err := os.MkdirAll(place, 0o700); err != nil {
			return err
		}
		err := os.WriteFile(filepath.Join(place, st.name()), nil, 0o600)
		if !errors.Is(err, fs.ErrNotExist) { // otherwise prunePlaces has removed the folder meanwhile
			return err
		}
	}
}

// last returns the name of the step that last wrote a file in a directory, "" if no stored result holds it.
func (w *Writers) last(st *Step, path, dir string) string {
	if w == nil {
		w = &Writers{}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	files, known := w.dirs[dir]
	if !known {
		files = st.store.writersIn(dir)
		if w.dirs == nil {
			w.dirs = map[string]map[string]written{}
		}
		w.dirs[dir] = files
	}
	return files[path].step
}

// Wrote notes that the outputs of a result were restored.
func (st *Step) Wrote(e *Entry, w *Writers) { w.note(st, &e.Manifest) }

// note notes that the step wrote the outputs of a result.
func (w *Writers) note(st *Step, m *Manifest) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if files, known := w.dirs[m.Dir]; known {
		addWritten(files, m, written{st.name(), st.store.now()})
	}
}

func addWritten(files map[string]written, m *Manifest, by written) {
	for _, item := range m.Outputs {
		if item.Type != Folder && !by.at.Before(files[item.Path].at) {
			files[item.Path] = by
		}
	}
}

// writersIn reads who wrote the files of a directory. Results that cannot be read count for nothing.
func (s *Store) writersIn(dir string) map[string]written {
	files := map[string]written{}
	names, _ := os.ReadDir(filepath.Join(s.dir, placesFolder, dir))
	for _, name := range names {
		st := &Step{store: s, dir: filepath.Join(s.dir, name.Name())}
		entries, _ := st.entries()
		for _, e := range entries {
			if found, err := st.load(e.name); err == nil && found.Dir == dir {
				addWritten(files, &found.Manifest, written{name.Name(), e.at})
			}
		}
	}
	return files
}

// prunePlaces forgets steps that have no results any more.
func (s *Store) prunePlaces() {
	places := filepath.Join(s.dir, placesFolder)
	folders, _ := os.ReadDir(places)
	for _, f := range folders {
		place := filepath.Join(places, f.Name())
		steps, _ := os.ReadDir(place)
		for _, step := range steps {
			if _, err := os.Stat(filepath.Join(s.dir, step.Name())); errors.Is(err, fs.ErrNotExist) {
				os.Remove(filepath.Join(place, step.Name()))
			}
		}
		os.Remove(place) // fails while there are files in it
	}
}
