package cache

import (
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

	"github.com/bmatcuk/doublestar/v4"
)

// Item is one stored output: a file, a folder or a symbolic link.
type Item struct {
	Path   string      `json:"path"` // relative to the step's directory, with /
	Type   ItemType    `json:"type"`
	Mode   fs.FileMode `json:"mode,omitempty"` // permissions of files and folders
	Size   int64       `json:"size,omitempty"` // of files, bytes
	Digest string      `json:"digest,omitempty"`
	Target string      `json:"target,omitempty"` // of links
	// Found marks a folder that was there before: its mode is not that of the step, unless it has to be made.
	Found bool `json:"found,omitempty"`
	// Doubtful marks a file that another step may have written instead: it is never put over a different file.
	Doubtful bool `json:"doubtful,omitempty"`
}

// ItemType is the kind of an output.
type ItemType string

// The types of items.
const (
	File   ItemType = "file"
	Folder ItemType = "folder"
	Link   ItemType = "link"
)

// MissingError reports that a step did not create files for its patterns of outputs.
type MissingError struct{ Patterns []string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the step did not create its outputs: no file matches %s", strings.Join(e.Patterns, ", "))
}

// collect lists what clean patterns of outputs match, sorted by path, so that a folder comes before its contents. A
// folder includes everything below it. Optional patterns may match nothing.
func (c *collector) collect(patterns, optional []string) ([]Item, error) {
	var missing []string
	for i, p := range slices.Concat(patterns, optional) {
		found := false
		err := doublestar.GlobWalk(c.tree, p, func(match string, _ fs.DirEntry) error {
			if isRestoreTemp(match) {
				return nil
			}
			found = true
			return c.add(match)
		}, search...)
		if !found { // it may be a link that is broken or leads out of the directory
			if linkErr := c.add(p); !errors.Is(linkErr, fs.ErrNotExist) {
				err, found = linkErr, true
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("cannot read %s: %w", p, err)
		}
		if !found && i < len(patterns) {
			missing = append(missing, p)
		}
	}
	if len(missing) > 0 {
		return nil, &MissingError{missing}
	}
	slices.SortFunc(c.items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return c.items, nil
}

// isRestoreTemp reports whether a file is a temporary file of another run that is restoring outputs.
func isRestoreTemp(file string) bool { return strings.HasPrefix(path.Base(file), tempPrefix) }

type collector struct {
	ctx      context.Context
	root     *os.Root
	tree     fs.FS // of the root
	most     int   // items
	anything bool  // what cannot be stored counts too, and there are no items
	items    []Item
	stamps   map[string]stamp
	seen     map[string]bool
}

func newCollector(ctx context.Context, root *os.Root, b bounds) *collector {
	return &collector{ctx: ctx, root: root, most: b.items, tree: &boundedFS{rootFolder(root), ctx, b.entries}, stamps: map[string]stamp{}, seen: map[string]bool{}}
}

// add adds one match, and everything below it.
func (c *collector) add(at string) error {
	if c.seen[at] {
		return nil
	}
	if info, err := c.root.Lstat(at); err != nil || !info.IsDir() {
		c.seen[at] = true
		return c.item(at)
	}
	return fs.WalkDir(c.tree, at, func(p string, d fs.DirEntry, err error) error {
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case err != nil:
			return err
		case c.seen[p] || isRestoreTemp(p):
			return nil
		}
		c.seen[p] = true
		return c.item(p)
	})
}

func (c *collector) item(p string) error {
	if len(c.items) == c.most {
		return ErrTooMany
	}
	info, err := c.root.Lstat(p)
	if err != nil {
		return err
	}
	if c.stamps[p] = stampOf(info); c.anything {
		return nil
	}
	i := Item{Path: p, Mode: info.Mode().Perm()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		i.Type, i.Size = File, info.Size()
	case mode.IsDir():
		i.Type = Folder
	case mode.Type() == fs.ModeSymlink:
		i.Type, i.Mode = Link, 0
		if i.Target, err = c.root.Readlink(p); err != nil {
			return err
		}
		if leadsOut(p, i.Target) {
			return fmt.Errorf("%s is a link to %s, outside the step's working directory", p, i.Target)
		}
	default:
		return fmt.Errorf("%s is not a file, folder or link", p)
	}
	c.items = append(c.items, i)
	return nil
}

// leadsOut reports whether the target of a link is outside of the directory that the link's path is relative to.
func leadsOut(link, target string) bool {
	if filepath.IsAbs(target) || filepath.VolumeName(target) != "" || path.IsAbs(filepath.ToSlash(target)) {
		return true
	}
	to := path.Join(path.Dir(link), filepath.ToSlash(target))
	return to == ".." || strings.HasPrefix(to, "../")
}

// unchanged reports whether an item is in the directory exactly as it was stored.
func (s *Store) unchanged(ctx context.Context, root *os.Root, i *Item) (bool, error) {
	info, err := root.Lstat(i.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	switch i.Type {
	case Folder:
		return info.IsDir() && (i.Found || info.Mode().Perm() == i.Mode), nil
	case Link:
		if info.Mode().Type() != fs.ModeSymlink {
			return false, nil
		}
		target, err := root.Readlink(i.Path)
		return target == i.Target, err
	}
	if !info.Mode().IsRegular() || info.Size() != i.Size || info.Mode().Perm() != i.Mode {
		return false, nil
	}
	f, err := root.Open(i.Path)
	if errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	digest, err := s.digest(ctx, io.LimitReader(f, i.Size+1))
	return digest == i.Digest, err
}
