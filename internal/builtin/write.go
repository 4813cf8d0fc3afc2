package builtin

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// mostWritten bounds a file that is edited, or shown beside its new text, in bytes.
const mostWritten = 10 << 20

// version is what a file held when a change of it was worked out.
type version struct {
	info fs.FileInfo // nil: there was no file
	text []byte      // nil where the file is larger than mostWritten
}

func (v version) exists() bool { return v.info != nil }

// current is what a file of a folder holds now.
func current(dir *os.Root, name, path string) (version, error) {
	if info, err := dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return version{}, nil
	} else if err == nil && info.Mode()&fs.ModeSymlink != 0 { // else the way to it would be resolved
		return version{}, regular(path, info)
	}
	f, info, err := openRegular(dir, name, path)
	if err != nil {
		return version{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostWritten+1))
	if len(text) > mostWritten {
		text = nil
	}
	return version{info, text}, told(path, err)
}

// own are folders that file tools do not write in, and whose they are. What is there can
// make programs run (hooks of git, tools and settings of flowrun), so that writing there is
// more than writing a file.
var own = map[string]string{".git": "git", "git~1": "git", ".flowrun": "flowrun", ".cycod": "flowrun"}

func (f *files) checkWritable(p place) error {
	for part := range strings.FieldsFuncSeq(p.path, isSeparator) {
		if whose := own[strings.ToLower(part)]; whose != "" {
			return belongs(p, whose, part)
		}
	}
	for _, folder := range f.own {
		if folder == "" {
			continue
		}
		if real, err := resolved(filepath.Clean(folder)); err == nil && inside(real, p.path) {
			return belongs(p, "flowrun", folder)
		}
	}
	return nil
}

func belongs(p place, whose, folder string) error {
	return fmt.Errorf("%s belongs to %s itself, which may run what is written there; file tools do not write in %s", quoted(p.path), whose, folder)
}

// put gives a file of a folder a new text: whole or not at all. A file that was there
// keeps its permissions and, where the system allows it, its owner; of several names that
// it has by hard links, the others keep the old text. where says whether it is still what
// its change was worked out for.
func put(dir *os.Root, name, path string, text []byte, was version, where func() error) (err error) {
	mode := fs.FileMode(0o644)
	if was.exists() {
		mode = was.info.Mode().Perm()
	}
	temporary := ".flowrun-" + rand.Text() + ".tmp"
	f, err := dir.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return told(path, err)
	}
	defer dir.Remove(temporary) // after a rename there is none
	_, err = f.Write(text)
	if err == nil && was.exists() {
		keepOwner(f, was.info)
		err = f.Chmod(mode) // the umask may have taken some of it
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return told(path, err)
	}
	if err := where(); err != nil {
		return err
	}
	if was.exists() {
		err = dir.Rename(temporary, name)
	} else {
		err = claim(dir, temporary, name, path)
	}
	if err != nil {
		return told(path, err)
	}
	return told(path, syncFolder(dir))
}

// claim gives a new file its name unless that is taken meanwhile.
func claim(dir *os.Root, temporary, name, path string) error {
	err := dir.Link(temporary, name)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return &refusal{words: fmt.Sprintf("%s was made by somebody else a moment ago; it was left as it is: read it first", quoted(path))}
	}
	if _, err := dir.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, fs.ErrExist)
	}
	return dir.Rename(temporary, name) // a file system without links
}

// syncFolder makes what happened to the names in a folder last.
func syncFolder(dir *os.Root) error {
	if runtime.GOOS == "windows" { // which keeps names itself
		return nil
	}
	f, err := dir.Open(".")
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) { // some file systems sync no folders
		err = nil
	}
	return errors.Join(err, f.Close())
}
