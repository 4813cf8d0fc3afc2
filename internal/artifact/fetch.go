package artifact

import (
	"fmt"
	"os"
	"path"

	"github.com/flowrun/flowrun/internal/atomicfile"
)

// CopyTo copies the artifact into a folder, which it creates if it is missing. It verifies each file, and replaces none:
// an *atomicfile.ExistsError names one that exists.
func (c *Content) CopyTo(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range c.Files {
		if err := c.copyFile(f, root); err != nil {
			return fmt.Errorf("cannot copy %s: %w", quoted(f.Path), err)
		}
	}
	return nil
}

func (c *Content) copyFile(f File, root *os.Root) error {
	if f.Folder {
		return root.MkdirAll(f.Path, 0o777)
	}
	if err := root.MkdirAll(path.Dir(f.Path), 0o777); err != nil {
		return err
	}
	to := atomicfile.File{Root: root, Path: f.Path, Mode: 0o666 | f.mode()&0o111, Exclusive: true, Unsynced: true}
	if f.Digest == "" {
		return to.Symlink(f.Target)
	}
	return to.Write(func(out *os.File) error { return c.Verify(f.Path, out) })
}
