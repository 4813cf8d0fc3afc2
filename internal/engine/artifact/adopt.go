package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// Adopt gives the artifact of a step of another run to a step of this one, whose folder of artifacts is given. "" is a
// step of the same path. The error is ErrGone if the artifact is no longer there.
func Adopt(folder string, step dag.ID, a dag.Artifact) (dag.Artifact, error) {
	c, err := Open(a)
	if err != nil {
		return a, err
	}
	defer c.Close()
	if step != "" {
		c.Step = step
	}
	dir := filepath.Join(folder, stepFolder(c.Step))
	place := filepath.Join(dir, a.Name)
	for _, f := range c.Files {
		if err := c.adopt(f, place); err != nil {
			return a, fmt.Errorf("cannot keep the artifact %s: %w", a.Name, err)
		}
	}
	text, err := json.Marshal(c.Manifest)
	if err == nil {
		err = atomicfile.File{Path: place + manifestExt, Mode: 0o600}.WriteText(text)
	}
	if err == nil && !c.Expires.IsZero() {
		err = noteExpiry(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(folder))), storeFolder), c.Expires, place)
	}
	return c.result(dir), err
}

// adopt links one file, or copies it if it cannot be linked.
func (c *Content) adopt(f File, to string) error {
	path := filepath.Join(to, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	switch {
	case f.Folder:
		return os.MkdirAll(path, 0o700)
	case f.Digest == "":
		return os.Symlink(f.Target, path)
	}
	err := os.Link(filepath.Join(c.dir, filepath.FromSlash(f.Path)), path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode())
	if err != nil {
		return err
	}
	return errors.Join(c.Verify(f.Path, out), out.Close())
}
