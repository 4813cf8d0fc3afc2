package cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Obstacle says why a result cannot stand for a run of the step, although all that the step depends on is the same: among
// its outputs are files that the result does not account for.
type Obstacle struct{ Path, Why string }

// String describes the obstacle in words.
func (o *Obstacle) String() string { return fmt.Sprintf("output %s %s", o.Path, o.Why) }

// Obstacle returns what is in the way of reusing a result in dir, nil if nothing is.
func (st *Step) Obstacle(ctx context.Context, e *Entry, dir string, w *Writers) (*Obstacle, error) {
	newer, err := st.newer(e)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the outputs: %w", err)
	}
	defer root.Close()
	c := &checker{ctx: ctx, step: st, entry: e, root: root, writers: w}
	for _, check := range []func() (*Obstacle, error){c.left, c.absent, c.doubtful, func() (*Obstacle, error) { return c.fromOtherInputs(newer) }} {
		if o, err := check(); o != nil || err != nil {
			return o, err
		}
	}
	return nil, nil
}

// newer returns the results of the step that were used after e. Only these can have left files that e does not account
// for.
func (st *Step) newer(e *Entry) (list []*Entry, err error) {
	all, err := st.entries()
	for _, u := range all {
		if u.name == filepath.Base(e.dir) {
			break
		}
		if found, bad := st.load(u.name); bad == nil && found.Dir == e.Dir {
			list = append(list, found)
		}
	}
	return list, err
}

// checker compares one result with the files in the directory of the step.
type checker struct {
	ctx     context.Context
	step    *Step
	entry   *Entry
	root    *os.Root
	writers *Writers
}

func (c *checker) exists(path string) bool {
	_, err := c.root.Lstat(path)
	return err == nil
}

// left checks the files that the step found and left: without them it would make them, or do something else.
func (c *checker) left() (*Obstacle, error) {
	for i := range c.entry.Left {
		item := &c.entry.Left[i]
		if !c.exists(item.Path) {
			return &Obstacle{item.Path, "is missing, which the step left as it was"}, nil
		}
		if item.Type == "" {
			continue
		}
		if same, err := c.step.store.unchanged(c.ctx, c.root, item); err != nil || !same {
			return &Obstacle{item.Path, "has changed, which the step left as it was"}, err
		}
	}
	return nil, nil
}

func (c *checker) absent() (*Obstacle, error) {
	for _, path := range c.entry.Absent {
		if c.exists(path) {
			return &Obstacle{path, "is there again, which the step or another one removed"}, nil
		}
	}
	return nil, nil
}

// doubtful checks files that another step may have written: it may have written them again.
func (c *checker) doubtful() (*Obstacle, error) {
	for i := range c.entry.Outputs {
		item := &c.entry.Outputs[i]
		if !item.Doubtful || !c.exists(item.Path) {
			continue
		}
		if same, err := c.step.store.unchanged(c.ctx, c.root, item); err != nil || !same {
			return &Obstacle{item.Path, "has changed, which another step may have written"}, err
		}
	}
	return nil, nil
}

// fromOtherInputs looks for files that the step made when it depended on something else: it may remove them.
func (c *checker) fromOtherInputs(newer []*Entry) (*Obstacle, error) {
	if len(newer) == 0 {
		return nil, nil
	}
	known := c.entry.accountsFor()
	for _, e := range newer {
		for i := range e.Outputs {
			item := &e.Outputs[i]
			if known[item.Path] || item.Type == Folder || !c.exists(item.Path) {
				continue
			}
			same, err := c.step.store.unchanged(c.ctx, c.root, item)
			if err != nil {
				return nil, err
			}
			if same && c.writers.last(c.step, item.Path, e.Dir) == c.step.name() {
				return &Obstacle{item.Path, "is there, which the step made when it depended on something else"}, nil
			}
		}
	}
	return nil, nil
}

// Files returns the paths of the files that restoring the result writes or removes.
func (e *Entry) Files() map[string]bool {
	files := make(map[string]bool, len(e.Outputs)+len(e.Removed))
	for i := range e.Outputs {
		files[e.Outputs[i].Path] = true
	}
	for _, path := range e.Removed {
		files[path] = true
	}
	return files
}

// accountsFor returns the paths that the result says something of.
func (e *Entry) accountsFor() map[string]bool {
	known := e.Files()
	for i := range e.Left {
		known[e.Left[i].Path] = true
	}
	return known
}
