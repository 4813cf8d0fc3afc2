package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Inputs returns the components of the files that patterns match, sorted by name. A pattern is relative to dir unless
// it is absolute, and may lead out of dir. A folder includes everything below it. Links to folders are followed only
// if a pattern names them; below a folder, the link itself is the input. Files that outputs match are not inputs,
// unless a pattern is exactly their name. A pattern that matches nothing is a component too.
//
// The error is a *PatternError, an *InputError or that of ctx.
func (s *Store) Inputs(ctx context.Context, dir string, patterns, outputs []string) ([]Component, error) {
	outputs, err := OutputPatterns(dir, outputs)
	if err != nil {
		return nil, err
	}
	f := &finder{ctx: ctx, dir: dir, outputs: outputs, files: map[string]string{}}
	var nothing []Component
	for _, pattern := range patterns {
		p, err := clean(pattern)
		if err != nil {
			return nil, &PatternError{"inputs", pattern, err}
		}
		f.matched = false
		if err := f.find(p); err != nil {
			return nil, err
		}
		if !f.matched {
			nothing = append(nothing, s.Component(NoMatch, pattern))
		}
	}
	list, err := s.files(ctx, f.files)
	return append(list, nothing...), err
}

// InputError reports an input that cannot be read.
type InputError struct {
	Path string
	Err  error
}

func (e *InputError) Error() string {
	return fmt.Sprintf("cannot read the input %q: %v; make it readable or remove it from cache.inputs", e.Path, e.Err)
}

func (e *InputError) Unwrap() error { return e.Err }

// finder collects the files that patterns match.
type finder struct {
	ctx     context.Context
	dir     string
	outputs []string
	files   map[string]string // displayed name -> file
	folders map[string]bool   // folders already walked for the current pattern
	literal bool              // the current pattern is a plain name
	matched bool
}

// find adds what a clean pattern matches.
func (f *finder) find(p string) error {
	base, rest := doublestar.SplitPattern(p)
	if rest == "" || rest == "." || rest == ".." {
		base, rest = p, "."
	}
	f.folders, f.literal = map[string]bool{}, IsName(p)
	from := filepath.FromSlash(base)
	if !filepath.IsAbs(from) {
		from = filepath.Join(f.dir, from)
	}
	err := doublestar.GlobWalk(folderAt(from), rest, func(match string, _ fs.DirEntry) error {
		return f.add(path.Join(base, match), filepath.Join(from, filepath.FromSlash(match)))
	}, search...)
	var known *InputError
	switch {
	case err == nil, f.ctx.Err() != nil:
		return f.ctx.Err()
	case errors.As(err, &known):
		return known
	case errors.Is(err, fs.ErrNotExist): // the pattern matches nothing
		return nil
	}
	return &InputError{p, err}
}

// add adds the files of one match of a pattern.
func (f *finder) add(name, file string) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if !f.literal && f.excluded(file) {
		return nil
	}
	info, err := os.Stat(file) // follows a link that a pattern matches
	switch {
	case err != nil || !info.IsDir():
		f.put(name, file)
		return nil
	case f.folders[file]:
		return nil
	}
	return f.walk(name, file)
}

// walk adds everything below a folder. The trailing separator makes WalkDir follow a link to it.
func (f *finder) walk(name, folder string) error {
	return filepath.WalkDir(folder+string(filepath.Separator), func(file string, d fs.DirEntry, err error) error {
		if ctxErr := f.ctx.Err(); ctxErr != nil {
			return ctxErr
		}
		file = filepath.Clean(file)
		inner := path.Join(name, filepath.ToSlash(strings.TrimPrefix(file, filepath.Clean(folder))))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed during the walk
		case err != nil:
			return &InputError{inner, err}
		case d.IsDir() && file != filepath.Clean(folder) && (f.excluded(file) || f.folders[file]):
			return fs.SkipDir
		case d.IsDir():
			f.folders[file] = true
		case !f.excluded(file):
			f.put(inner, file)
		}
		return nil
	})
}

func (f *finder) put(name, file string) {
	f.matched = true
	f.files[name] = file
}

// excluded reports whether a file is excluded: an output, or a file that is being restored.
func (f *finder) excluded(file string) bool {
	if isRestoreTemp(filepath.ToSlash(file)) {
		return true
	}
	rel, err := filepath.Rel(f.dir, file)
	return err == nil && len(f.outputs) > 0 && covered(f.outputs, filepath.ToSlash(rel))
}

// files returns the components of files, sorted by name.
func (s *Store) files(ctx context.Context, files map[string]string) ([]Component, error) {
	list := make([]Component, 0, len(files))
	for name := range files {
		list = append(list, Component{Kind: Input, Name: name})
	}
	slices.SortFunc(list, func(a, b Component) int { return strings.Compare(a.Name, b.Name) })
	err := each(ctx, len(list), func(i int) (err error) {
		c := &list[i]
		c.Hash, err = s.file(ctx, c.Name, files[c.Name])
		if errors.Is(err, fs.ErrNotExist) {
			c.Hash, err = s.Sum(c.Name, "gone"), nil
		}
		if err != nil {
			return &InputError{c.Name, err}
		}
		return nil
	})
	return list, err
}

// file returns the hash of one input: its name, whether it is executable, its target if it is a link, and its
// content. The content counts for regular files only: reading others could block forever.
func (s *Store) file(ctx context.Context, name, file string) (string, error) {
	h := s.hash()
	addText(h, name)
	target, err := os.Readlink(file)
	addText(h, fmt.Sprint(err == nil))
	addText(h, target)
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist): // a broken link
		if _, there := os.Lstat(file); there != nil {
			return "", there
		}
		return sum(h), nil
	case err != nil:
		return "", err
	}
	addText(h, info.Mode().Type().String())
	if !info.Mode().IsRegular() {
		return sum(h), nil
	}
	addText(h, fmt.Sprint(info.Mode()&0o111 != 0))
	in, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer in.Close()
	_, err = copyTo(ctx, h, in)
	return sum(h), err
}
