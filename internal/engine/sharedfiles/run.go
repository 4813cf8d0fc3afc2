package sharedfiles

import (
	"fmt"
	"path/filepath"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/cache"
)

// Run holds the steps of a run that work now. The zero Run is ready, and of a nil one every step works alone. It is safe
// for concurrent use.
type Run struct {
	mu      sync.Mutex
	working map[*Work]struct{}
	// Steps that do not say what they write are only counted: those that work now, and all that ever began.
	silent, everSilent int
	told               map[string]bool // see First
}

// First reports whether it is asked about a step for the first time in the run: of a loop whose items write the same files,
// it is reported once.
func (r *Run) First(step string) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.told[step] {
		return false
	}
	if r.told == nil {
		r.told = map[string]bool{}
	}
	r.told[step] = true
	return true
}

// Work is an attempt of a step, from its begin to its end.
type Work struct {
	run    *Run
	own    *claim
	others []*claim // of the steps that worked at the same time
	silent int      // how many steps that do not say what they write had ended before
}

// claim is what a step says of the files that it writes.
type claim struct {
	step     string
	dir      string
	patterns []string
	files    map[string]bool // instead of patterns, if it is known
}

// Begin notes that a step works, which writes the files in dir that patterns of outputs match. End must follow. One step
// may have several Works at once, which do not disturb each other.
func (r *Run) Begin(step, dir string, patterns []string) *Work {
	w := &Work{run: r, own: &claim{step: step, dir: realPath(dir), patterns: relative(dir, patterns)}}
	if r == nil {
		return w
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.working {
		if other.own.step != step {
			w.others = append(w.others, other.own)
			other.others = append(other.others, w.own)
		}
	}
	if r.working == nil {
		r.working = map[*Work]struct{}{}
	}
	r.working[w] = struct{}{}
	w.silent = r.everSilent - r.silent
	return w
}

// BeginSilent notes that a step works which does not say what it writes. EndSilent must follow.
func (r *Run) BeginSilent() {
	if r != nil {
		r.mu.Lock()
		r.silent++
		r.everSilent++
		r.mu.Unlock()
	}
}

// EndSilent notes that a step of BeginSilent works no longer.
func (r *Run) EndSilent() {
	if r != nil {
		r.mu.Lock()
		r.silent--
		r.mu.Unlock()
	}
}

// Writes narrows what the step says to some files, relative to its directory. nil takes that back.
func (w *Work) Writes(files map[string]bool) {
	if w.run != nil {
		w.run.mu.Lock()
		defer w.run.mu.Unlock()
	}
	w.own.files = files
}

// End notes that the step works no longer.
func (w *Work) End() {
	if w.run == nil {
		return
	}
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	delete(w.run.working, w)
}

// Owner says whose a file is that was written while the step worked: path is relative to its directory. A step that
// names a file owns it rather than one whose pattern matches it. The error is a *ContestedError.
func (w *Work) Owner(path string) (cache.Owner, error) {
	if w.run == nil {
		return cache.OwnFile, nil
	}
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	file := filepath.Join(w.own.dir, filepath.FromSlash(path))
	mine, owner := w.own.strength(file), cache.OwnFile
	for _, other := range w.others {
		switch theirs := other.strength(file); {
		case theirs == none || theirs < mine:
		case theirs > mine:
			owner = cache.OtherFile
		default:
			return owner, &ContestedError{Path: path, Step: other.step}
		}
	}
	if owner == cache.OwnFile && w.run.everSilent > w.silent && mine < named {
		owner = cache.DoubtfulFile
	}
	return owner, nil
}

// How definitely a step says that it writes a file.
const (
	none = iota
	matched
	named
)

func (c *claim) strength(file string) int {
	rel, err := filepath.Rel(c.dir, file)
	if err != nil {
		return none
	}
	rel = filepath.ToSlash(rel)
	if c.files != nil {
		if c.files[rel] {
			return named
		}
		return none
	}
	best := none
	for _, p := range c.patterns {
		switch {
		case !cache.Covers(p, rel):
		case cache.IsName(p) && cache.Matches(p, rel):
			return named
		default:
			best = matched
		}
	}
	return best
}

// relative returns patterns of outputs relative to dir.
func relative(dir string, patterns []string) []string {
	clean, err := cache.OutputPatterns(dir, patterns)
	if err != nil { // the step is refused
		return nil
	}
	return clean
}

// realPath returns a directory without links, so that two names of it are the same.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// ContestedError reports a file that two steps say they write, which worked at the same time.
type ContestedError struct {
	Path string
	Step string // the other one
}

func (e *ContestedError) Error() string {
	return fmt.Sprintf("%s may be the file of step %s, which ran at the same time and writes it too; write to different files, or let one step wait for the other", e.Path, e.Step)
}
