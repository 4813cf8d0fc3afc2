package artifact

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Manifest describes one artifact.
type Manifest struct {
	Step    dag.ID    `json:"step"` // path of the step
	Name    string    `json:"name"`
	Expires time.Time `json:"expires,omitzero"`
	Single  bool      `json:"single,omitempty"` // the artifact is its only file, not the folder around it
	Files   []File    `json:"files"`
}

// Encoded returns an artifact with its paths as package rawtext keeps them in JSON.
func Encoded(a dag.Artifact) dag.Artifact {
	a.Path, a.Paths = rawtext.Encode(a.Path), rawtext.List(a.Paths, rawtext.Encode)
	return a
}

// EncodedEvent returns an event whose artifacts are Encoded.
func EncodedEvent(e dag.Event) dag.Event {
	if e.Result == nil || len(e.Result.Artifacts()) == 0 {
		return e
	}
	r, list := *e.Result, slices.Clone(e.Result.Artifacts())
	for i := range list {
		list[i] = Encoded(list[i])
	}
	r.SetArtifacts(list)
	e.Result = &r
	return e
}

// File is a file, a folder or a symbolic link of an artifact.
type File struct {
	Path       string `json:"path"` // relative to the artifact, with /
	Folder     bool   `json:"folder,omitempty"`
	Executable bool   `json:"executable,omitempty"`
	Size       int64  `json:"size"`             // bytes
	Digest     string `json:"digest,omitempty"` // sha256:HEX; "" for folders and links
	Target     string `json:"target,omitempty"` // of a link
}

// MarshalJSON writes a File so that UnmarshalJSON returns the same names, also those that are not UTF-8.
func (f File) MarshalJSON() ([]byte, error) {
	type plain File
	f.Path, f.Target = rawtext.Encode(f.Path), rawtext.Encode(f.Target)
	return json.Marshal(plain(f))
}

// UnmarshalJSON reads what MarshalJSON has written.
func (f *File) UnmarshalJSON(b []byte) error {
	type plain File
	err := json.Unmarshal(b, (*plain)(f))
	f.Path, f.Target = rawtext.Decode(f.Path), rawtext.Decode(f.Target)
	return err
}

// mode returns the permissions of the content in the store. Nobody may write to it.
func (f File) mode() fs.FileMode {
	if f.Executable {
		return 0o555
	}
	return 0o444
}

// Errors of reading an artifact.
var (
	ErrGone    = errors.New("it is no longer in the state folder: it was removed, or its retention has passed")
	ErrDamaged = errors.New("it was changed after it was stored")
)

// Content is an open artifact.
type Content struct {
	Manifest
	dir  string
	root *os.Root
}

// Open opens an artifact. The caller closes it.
func Open(a dag.Artifact) (*Content, error) {
	dir := folderOf(a)
	m, err := readManifest(dir)
	c := &Content{Manifest: m, dir: dir}
	if err == nil {
		c.root, err = os.OpenRoot(dir)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ErrGone
	case err != nil:
		return nil, fmt.Errorf("cannot read the artifact %s: %w", a.Name, err)
	case !m.Expires.IsZero() && time.Now().After(m.Expires):
		c.root.Close()
		return nil, ErrGone
	}
	return c, nil
}

// folderOf returns the folder of an artifact: its path, or the folder around its only file.
func folderOf(a dag.Artifact) string {
	if _, err := os.Lstat(a.Path + manifestExt); err == nil {
		return a.Path
	}
	return filepath.Dir(a.Path)
}

// readManifest reads the manifest of the artifact in a folder.
func readManifest(folder string) (m Manifest, err error) {
	text, err := ownership.ReadFile(folder + manifestExt)
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil && m.Single && len(m.Files) != 1 {
		err = ErrDamaged
	}
	return m, err
}

// Result returns how a result refers to the artifact.
func (c *Content) Result() dag.Artifact { return c.result(filepath.Dir(c.dir)) }

// Close closes the artifact.
func (c *Content) Close() error { return c.root.Close() }

// File opens a regular file of the artifact. The error wraps fs.ErrNotExist if it has none with that path.
func (c *Content) File(path string) (*os.File, File, error) {
	for _, f := range c.Files {
		if f.Path == path && f.Digest != "" {
			file, err := c.root.Open(filepath.FromSlash(path))
			if err == nil {
				if err = ownership.CheckOpen(file); err != nil {
					file.Close()
				}
			}
			return file, f, err
		}
	}
	return nil, File{}, fs.ErrNotExist
}

// Verify reads a file of the artifact, and writes it to w if that is not nil. The error is ErrDamaged if the file has
// changed.
func (c *Content) Verify(path string, w io.Writer) error {
	file, f, err := c.File(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	defer file.Close()
	if w == nil {
		w = io.Discard
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(sum, w), io.LimitReader(file, f.Size+1)); err != nil {
		return err
	}
	if digestText(sum.Sum(nil)) != f.Digest {
		return fmt.Errorf("%w: %s", ErrDamaged, path)
	}
	return nil
}

// Check verifies that an artifact still is what the step left.
func Check(a dag.Artifact) error {
	c, err := Open(a)
	if err != nil {
		return err
	}
	defer c.Close()
	if c.Manifest.digest() != a.Digest {
		return ErrDamaged
	}
	for _, f := range c.Files {
		if f.Digest == "" {
			continue
		}
		if err := c.Verify(f.Path, nil); err != nil {
			return err
		}
	}
	return nil
}

// Result returns how a result refers to the artifact. dir is the folder of its step.
func (m *Manifest) result(dir string) dag.Artifact {
	a := dag.Artifact{Name: m.Name, Path: filepath.Join(dir, m.Name), Digest: m.digest(), Expires: m.Expires}
	if m.Single {
		a.Path = filepath.Join(a.Path, filepath.FromSlash(m.Files[0].Path))
	}
	for _, f := range m.Files {
		if !f.Folder {
			a.Files++
		}
		a.Size += f.Size
	}
	return a
}

// digest returns the digest of the only file, or else that of the list of files.
func (m *Manifest) digest() string {
	if m.Single {
		return m.Files[0].Digest
	}
	text, err := json.Marshal(m.Files)
	if err != nil {
		panic(err) // plain values always have a JSON form
	}
	sum := sha256.Sum256(text)
	return digestText(sum[:])
}

func digestText(sum []byte) string { return "sha256:" + hex.EncodeToString(sum) }

const manifestExt = ".json"

// stepFolder returns the name of the folder for the artifacts of a step.
func stepFolder(step dag.ID) string { return rundir.FileName(string(step)) }
