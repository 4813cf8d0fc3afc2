package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/library"
)

// InWorkspace returns the run as one of a project that has moved: its working directory is dir, and so are the files of
// its definitions below the old one. Files elsewhere in the project are those at the same place beside dir, if they are there
// and gone from the old place. Parameters and outputs stay as they are. Error: dir is not a folder.
func (p *RecordedRun) InWorkspace(lib *library.Library, dir string) (*RecordedRun, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("cannot continue run %s in %q: it is not a folder that exists", p.Record.ID, dir)
	}
	r := *p.Record
	m := move{r.RunEnv.Workspace, dir}
	r.RunEnv.Workspace, r.RunEnv.TrustedProject = dir, m.path(r.RunEnv.TrustedProject)
	r.Sources = slices.Clone(r.Sources)
	for i := range r.Sources {
		s := &r.Sources[i]
		s.From, s.Name, s.File = m.path(s.From), m.path(s.Name), m.path(s.File)
		s.Files = slices.Clone(s.Files)
		for j := range s.Files {
			s.Files[j].Path = m.path(s.Files[j].Path)
		}
	}
	moved := *p
	moved.Record, moved.folded = &r, new(foldedState)
	if r.NotStarted || p.absent != nil {
		return &moved, nil
	}
	if err := moved.compile(lib); err != nil {
		return nil, fmt.Errorf("cannot continue run %s in %q: %w", r.ID, dir, err)
	}
	return &moved, nil
}

// move is that of a working directory.
type move struct{ from, to string }

// path returns where a path is now.
func (m move) path(path string) string {
	if !filepath.IsAbs(path) || m.from == m.to {
		return path
	}
	if rest, inside := below(path, m.from); inside {
		return m.to + rest
	}
	from, to := m.from, m.to
	for filepath.Base(from) == filepath.Base(to) && filepath.Dir(from) != from && filepath.Dir(to) != to {
		from, to = filepath.Dir(from), filepath.Dir(to)
		rest, inside := below(path, from)
		if !inside {
			continue
		}
		_, old := os.Stat(path)
		if _, err := os.Stat(to + rest); err == nil && old != nil {
			return to + rest
		}
	}
	return path
}

// below returns the rest of a path that is a folder or in it.
func below(path, folder string) (rest string, inside bool) {
	rest, inside = strings.CutPrefix(path, folder)
	return rest, inside && (rest == "" || os.IsPathSeparator(rest[0]))
}
