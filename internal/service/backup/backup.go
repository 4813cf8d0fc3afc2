// Package backup copies the history of runs, with the files that it names, into a file or a folder, and back.
//
// # What a backup has
//
//	manifest.json   where the state directory was
//	artifacts/      the content of artifacts
//	tools/          what .tool.js tools have stored
//	runs/RUN/       the logs and artifacts of each run in the history
//	history.db      the history, last
//
// A backup file is a tar archive of these, compressed with gzip; a backup folder has them as they are. Caches, settings,
// trusted projects, users and tokens are not in it, nor are the temporary directories of runs.
//
// # Consistency
//
// The history is copied first, at one moment, while others write to it. Files are never changed after the history names them,
// so what is copied later is what the history names. A run that ran at that moment is interrupted in the copy.
//
// # Restore
//
// The target is an empty state directory. history.db gets its name when everything else is in place and checked, so that an
// interrupted restore leaves no history. The history names files by absolute paths: those in the old state directory become
// those in the new one.
package backup

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
	"github.com/flowrun/flowrun/internal/os/diskuse"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

const (
	manifestName = "manifest.json"
	dbName       = "history.db"
	runsName     = "runs"
)

// folders are copied as they are.
var folders = [...]string{"artifacts", "tools"}

// format is the version of the form of a backup.
const format = 1

// manifest describes a backup.
type manifest struct {
	Format  int       `json:"format"`
	State   string    `json:"state"`   // the state directory
	Created time.Time `json:"created"` // when the history was copied
	Version string    `json:"version"` // of flowrun
}

// Source makes a copy of a history, see sqlite.File.
type Source interface {
	Backup(ctx context.Context, path string) error
}

// Write makes a backup of the history in a state directory. A target that is a folder, or ends with a slash, becomes a backup
// folder and must be empty; any other target becomes a file and must not exist. It is complete or does not exist. It
// returns how many runs the backup has. Error: sqlite.ErrNoHistory.
func Write(ctx context.Context, db Source, state, target string) (runs int, err error) {
	folder := os.IsPathSeparator(target[len(target)-1])
	if state, err = filepath.Abs(state); err == nil {
		target, err = filepath.Abs(target)
	}
	if err != nil {
		return 0, err
	}
	if info, err := os.Stat(target); folder || err == nil && info.IsDir() {
		return writeFolder(ctx, db, state, target)
	} else if err == nil {
		return 0, fmt.Errorf("cannot write the backup %q: %w", target, fs.ErrExist)
	}
	return writeFile(ctx, db, state, target)
}

// writeFile makes a backup file.
func writeFile(ctx context.Context, db Source, state, target string) (runs int, err error) {
	temp, err := os.MkdirTemp(filepath.Dir(target), ".flowrun-backup-*") // where there has to be space for the backup anyway
	if err != nil {
		return 0, fmt.Errorf("cannot write the backup: %w", err)
	}
	defer os.RemoveAll(temp)
	err = atomicfile.File{Path: target, Mode: 0o600, Exclusive: true}.Write(func(f *os.File) error {
		z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed) // the level is valid
		if runs, err = pack(ctx, db, state, filepath.Join(temp, dbName), z); err != nil {
			return err
		}
		return z.Close()
	})
	return runs, err
}

// writeFolder makes a backup folder.
func writeFolder(ctx context.Context, db Source, state, target string) (runs int, err error) {
	root, err := emptyFolder(target)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	r, w := io.Pipe()
	packed := make(chan int, 1)
	go func() {
		n, err := pack(ctx, db, state, filepath.Join(target, ".history.db"), w)
		w.CloseWithError(err)
		packed <- n
	}()
	_, err = unpack(r, root)
	r.CloseWithError(err)
	runs = <-packed
	if err == nil {
		err = complete(root)
	}
	if err != nil {
		empty(root)
	}
	return runs, err
}

// pack writes the archive. copied is the path for the copy of the history, which is removed.
func pack(ctx context.Context, db Source, state, copied string, to io.Writer) (runs int, err error) {
	m := manifest{format, state, time.Now().UTC(), buildinfo.Release()}
	if err := db.Backup(ctx, copied); err != nil {
		return 0, err
	}
	defer os.Remove(copied)
	c, err := sqlite.OpenCopy(ctx, copied)
	if err != nil {
		return 0, err
	}
	p := newPacker(to)
	runs, err = p.state(ctx, c, m)
	if err = errors.Join(err, c.Close()); err != nil {
		return 0, err
	}
	return runs, errors.Join(p.file(copied, dbName), p.Close())
}

// state writes everything but the history, and returns how many runs that has.
func (p packer) state(ctx context.Context, c *sqlite.Copy, m manifest) (runs int, err error) {
	if err := p.manifest(m); err != nil {
		return 0, err
	}
	for _, name := range folders {
		if err := p.folder(m.State, name); err != nil {
			return 0, err
		}
	}
	entries, err := os.ReadDir(filepath.Join(m.State, runsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, run := range entries {
		known, err := c.Has(ctx, run.Name())
		if err == nil && known {
			err = p.folder(m.State, filepath.Join(runsName, run.Name()))
		}
		if err != nil {
			return 0, err
		}
	}
	return c.Runs(ctx)
}

// packer writes files into an archive.
type packer struct {
	*tar.Writer
	names map[diskuse.ID]string // in the archive, of files with several names
}

func newPacker(to io.Writer) packer { return packer{tar.NewWriter(to), map[diskuse.ID]string{}} }

func (p packer) manifest(m manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	err = p.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: manifestName, Mode: 0o600, Size: int64(len(text)), ModTime: m.Created})
	_, bad := io.Copy(p, bytes.NewReader(text))
	return errors.Join(err, bad)
}

// folder writes a folder of the state directory with everything in it, if there is one.
func (p packer) folder(state, name string) error {
	return filepath.WalkDir(filepath.Join(state, name), func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(state, path) // both are absolute
		switch {
		case errors.Is(err, fs.ErrNotExist): // removed meanwhile: the history does not name it
			return nil
		case err != nil:
			return err
		case d.Name() == rundir.TempList: // its folders are not in the backup, and belong to the runs of this state directory
			return nil
		case d.IsDir():
			return p.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.ToSlash(rel), Mode: 0o700})
		case d.Type().IsRegular():
			return p.file(path, filepath.ToSlash(rel))
		}
		return nil
	})
}

// file writes a file, or that it is another name of one that is written already.
func (p packer) file(path, name string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && name != dbName {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: int64(info.Mode().Perm()), Size: info.Size(), ModTime: info.ModTime()}
	if id, names := diskuse.Names(info); names > 1 {
		if first, known := p.names[id]; known {
			h.Typeflag, h.Linkname, h.Size = tar.TypeLink, first, 0
		} else {
			p.names[id] = name
		}
	}
	if err := p.WriteHeader(h); err != nil {
		return err
	}
	n, err := io.Copy(p, io.LimitReader(f, h.Size)) // a log may grow meanwhile
	if err == nil && n < h.Size {
		_, err = io.CopyN(p, zeros{}, h.Size-n) // a running step has truncated it
	}
	if err != nil {
		return fmt.Errorf("cannot back up %s: %w", path, err)
	}
	return nil
}

// zeros is an endless stream of zeros.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 0
	}
	return len(b), nil
}
