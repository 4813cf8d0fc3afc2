package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Depot keeps files where all programs that have a share in a run can read them, by their SHA-256 digest: sha256:HEX.
type Depot interface {
	// KeepFile stores a file and returns its digest.
	KeepFile(ctx context.Context, file string) (digest string, err error)
	// Open opens what has that digest. Reading it fails at the end if it was damaged.
	Open(ctx context.Context, digest string) (io.ReadCloser, error)
}

// Deposit stores an artifact of this machine: the contents of its files, and its manifest, whose digest it returns.
func Deposit(ctx context.Context, to Depot, a dag.Artifact) (digest string, err error) {
	c, err := Open(a)
	if err != nil {
		return "", err
	}
	defer c.Close()
	for _, f := range c.Files {
		if f.Digest == "" {
			continue
		}
		kept, err := to.KeepFile(ctx, filepath.Join(c.dir, filepath.FromSlash(f.Path)))
		if err == nil && kept != f.Digest {
			err = fmt.Errorf("%w: %s", ErrDamaged, f.Path)
		}
		if err != nil {
			return "", err
		}
	}
	return to.KeepFile(ctx, c.dir+manifestExt)
}

// Withdraw makes the artifact that Deposit has stored one of this machine, in the folder for the artifacts of its run, in
// place of an earlier one of the same step. Not safe for concurrent use with the same folder.
func Withdraw(ctx context.Context, from Depot, digest, folder string) (dag.Artifact, error) {
	text, err := read(ctx, from, digest)
	if err != nil {
		return dag.Artifact{}, err
	}
	c := &Content{}
	if err := json.Unmarshal(text, &c.Manifest); err != nil {
		return dag.Artifact{}, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if !filepath.IsLocal(c.Name) || filepath.Base(c.Name) != c.Name || c.Name == "." || c.Single && len(c.Files) != 1 {
		return dag.Artifact{}, ErrDamaged
	}
	dir := filepath.Join(folder, stepFolder(c.Step))
	c.dir = filepath.Join(dir, c.Name)
	if there, err := ownership.ReadFile(c.dir + manifestExt); err == nil && digestOf(there) == digest {
		return c.result(dir), nil
	}
	temp := filepath.Join(folder, tempNew+stepFolder(c.Step)+"-"+c.Name)
	if err := errors.Join(os.RemoveAll(temp), os.MkdirAll(dir, 0o700), os.MkdirAll(temp, 0o700)); err != nil {
		return dag.Artifact{}, err
	}
	defer os.RemoveAll(temp) // after the rename it no longer exists
	if err := c.withdraw(ctx, from, temp); err != nil {
		return dag.Artifact{}, err
	}
	err = errors.Join(os.RemoveAll(c.dir+manifestExt), os.RemoveAll(c.dir), os.Rename(temp, c.dir))
	if err == nil {
		// Last: a killed process leaves no artifact that is not whole.
		err = atomicfile.File{Path: c.dir + manifestExt, Mode: 0o600, Unsynced: true}.WriteText(text)
	}
	return c.result(dir), err
}

// withdraw writes the files of the artifact to a folder.
func (c *Content) withdraw(ctx context.Context, from Depot, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range c.Files {
		name := filepath.FromSlash(f.Path)
		switch err = root.MkdirAll(filepath.FromSlash(path.Dir(f.Path)), 0o700); {
		case err != nil:
		case f.Folder:
			err = root.MkdirAll(name, 0o700)
		case f.Digest == "":
			err = root.Symlink(f.Target, name)
		default:
			err = f.withdraw(ctx, from, root)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", quoted(f.Path), err)
		}
	}
	return nil
}

func (f File) withdraw(ctx context.Context, from Depot, root *os.Root) error {
	in, err := from.Open(ctx, f.Digest)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := root.OpenFile(filepath.FromSlash(f.Path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, contextReader{ctx, in})
	return errors.Join(err, out.Close())
}

func read(ctx context.Context, from Depot, digest string) ([]byte, error) {
	r, err := from.Open(ctx, digest)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

func digestOf(text []byte) string {
	sum := sha256.Sum256(text)
	return digestText(sum[:])
}

// Folder returns the folder for the artifacts of the run on this machine.
func (r *Run) Folder() (string, error) {
	state, err := r.state()
	return rundir.ArtifactFolder(state, r.id), err
}
