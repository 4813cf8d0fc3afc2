package builtin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// maxWritten limits a file that is edited, or compared with its new text, in bytes.
const maxWritten = 10 << 20

// version is the content of a file when its change was computed.
type version struct {
	info fs.FileInfo // nil if there was no file
	text []byte      // nil if the file is larger than maxWritten
}

func (v version) exists() bool { return v.info != nil }

// readVersion returns the content of a file in a folder now.
func readVersion(dir *os.Root, name, path string) (version, error) {
	if info, err := dir.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return version{}, nil
	} else if err == nil && info.Mode()&fs.ModeSymlink != 0 { // checked here, because opening the file would follow the link
		return version{}, regular(path, info)
	}
	f, info, err := openRegular(dir, name, path)
	if err != nil {
		return version{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxWritten+1))
	if len(text) > maxWritten {
		text = nil
	}
	return version{info, text}, describeError(path, err)
}

// protectedFolders lists folders in which file tools do not write, and to which program they belong. Files there can
// make programs run (hooks of git, tools and settings of flowrun), so writing them would be more than writing a file.
var protectedFolders = map[string]string{".git": "git", "git~1": "git", ".flowrun": "flowrun", ".cycod": "flowrun"}

func (f *files) checkWritable(p place) error {
	for part := range strings.FieldsFuncSeq(p.path, isSeparator) {
		if whose := protectedFolders[strings.ToLower(part)]; whose != "" {
			return protectedError(p, whose, part)
		}
	}
	for _, folder := range f.ownFolders {
		if folder == "" {
			continue
		}
		if real, err := resolved(filepath.Clean(folder)); err == nil && inside(real, p.path) {
			return protectedError(p, "flowrun", folder)
		}
	}
	return nil
}

func protectedError(p place, whose, folder string) error {
	return fmt.Errorf("%s belongs to %s, which may run files from there; file tools do not write in %s", quoted(p.path), whose, folder)
}

// replaceFile atomically gives a file a new text. An existing file keeps its permissions and, if the system allows
// it, its owner; other hard links to the file keep the old text. where is called before the file is replaced and
// returns an error if the file has changed since the change was computed.
func replaceFile(dir *os.Root, name, path string, text []byte, was version, where func() error) error {
	file := atomicfile.File{Root: dir, Path: name, Mode: 0o644, Exclusive: true, Before: where}
	if was.exists() {
		file.Mode, file.Exact, file.Exclusive = was.info.Mode().Perm(), true, false
	}
	err := file.Write(func(f *os.File) error {
		_, err := f.Write(text)
		if err == nil && was.exists() {
			keepOwner(f, was.info)
		}
		return err
	})
	if exists := new(atomicfile.ExistsError); errors.As(err, &exists) {
		return &refusal{words: fmt.Sprintf("%s was just created by another program, so it was not overwritten; read it first", quoted(path))}
	}
	return describeError(path, err)
}
