package artifact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// CopyTo copies the artifact into a folder, which it creates if it is missing. It verifies each file, and replaces none:
// an *atomicfile.ExistsError names one that exists. After an error the folder is as it was. A new folder gets its name
// when it is complete, so a killed process leaves none.
func (c *Content) CopyTo(dir string) error {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return c.copyInto(dir)
	}
	parent := filepath.Dir(filepath.Clean(dir))
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return err
	}
	temp := filepath.Join(parent, "."+rand.Text()+".tmp")
	if err := os.Mkdir(temp, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(temp) // after the rename it no longer exists
	if err := c.copyInto(temp); err != nil {
		return err
	}
	return os.Rename(temp, dir)
}

// copyInto copies the artifact into a folder that exists.
func (c *Content) copyInto(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	to := &target{root: root}
	for _, f := range c.Files {
		if err := c.copyFile(f, to); err != nil {
			return errors.Join(fmt.Errorf("cannot copy %s: %w", quoted(f.Path), err), to.undo())
		}
	}
	return nil
}

// target is a folder into which files are copied.
type target struct {
	root *os.Root
	made []string // files and folders that were not there before
}

func (t *target) undo() (err error) {
	for i := len(t.made) - 1; i >= 0; i-- {
		err = errors.Join(err, t.root.Remove(t.made[i]))
	}
	return err
}

// folder creates a folder and those around it.
func (t *target) folder(name string) error {
	if name == "." {
		return nil
	}
	if info, err := t.root.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	if err := t.folder(path.Dir(name)); err != nil {
		return err
	}
	err := t.root.Mkdir(name, 0o777)
	if err == nil {
		t.made = append(t.made, name)
	}
	return err
}

func (c *Content) copyFile(f File, to *target) error {
	if f.Folder {
		return to.folder(f.Path)
	}
	if err := to.folder(path.Dir(f.Path)); err != nil {
		return err
	}
	file := atomicfile.File{Root: to.root, Path: f.Path, Mode: 0o666 | f.mode()&0o111, Exclusive: true, Unsynced: true}
	var err error
	if f.Digest == "" {
		err = file.Symlink(f.Target)
	} else {
		err = file.Write(func(out *os.File) error { return c.Verify(f.Path, out) })
	}
	if err == nil {
		to.made = append(to.made, f.Path)
	}
	return err
}
