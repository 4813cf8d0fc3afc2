package script

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/systrace"
)

// maxRead limits a file that a script reads, in bytes.
const maxRead = 10_000_000

// fileEntry describes a file to a script.
type fileEntry struct {
	Name  string      `json:"name"`
	Kind  string      `json:"kind"` // file, directory, link or other
	Size  int64       `json:"size"`
	Mode  fs.FileMode `json:"mode"`
	Mtime float64     `json:"mtimeMs"`
}

func entryOf(info fs.FileInfo) fileEntry {
	kind := "other"
	switch {
	case info.Mode().IsRegular():
		kind = "file"
	case info.IsDir():
		kind = "directory"
	case info.Mode()&fs.ModeSymlink != 0:
		kind = "link"
	}
	return fileEntry{info.Name(), kind, info.Size(), info.Mode().Perm(), float64(info.ModTime().UnixMicro()) / 1000}
}

// contents is the content of a file: text if it is UTF-8, else bytes in base64.
type contents struct {
	Text  *string `json:"text,omitempty"`
	Bytes string  `json:"bytes,omitempty"`
}

func contentsOf(b []byte) contents {
	if s := string(b); utf8.ValidString(s) {
		return contents{Text: &s}
	}
	return contents{Bytes: base64.StdEncoding.EncodeToString(b)}
}

// files carries out a script's request to the file system. Requests only read, and need the permission
// filesystem:read:PATH.
func (k *hostCalls) files(op string, args json.RawMessage) (any, error) {
	var in struct{ Path string }
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("cannot read the path of the file: %w", err)
	}
	path := k.args.RunEnv.Resolve("", in.Path)
	k.args.Session().Observe(systrace.Access{Kind: systrace.Read, Target: path})
	granted, rest, err := call.Grants(k.args).Readable(path)
	if err != nil {
		return nil, err
	}
	v, err := readBelow(op, granted, rest, path)
	if err != nil {
		return nil, systemError(err)
	}
	return v, nil
}

// readBelow reads a file or folder at rest below granted. os.Root keeps it below granted even if a link is created on
// the way during the call.
func readBelow(op, granted, rest, path string) (any, error) {
	if info, err := os.Lstat(granted); err == nil && !info.IsDir() { // the permission is for one file
		granted, rest = filepath.Split(granted)
	}
	root, err := os.OpenRoot(granted)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	switch op {
	case "fs.realpath":
		if _, err := root.Stat(rest); err != nil {
			return nil, err
		}
		return permission.RealPath(path), nil
	case "fs.stat":
		info, err := root.Stat(rest)
		if err != nil {
			return nil, err
		}
		return entryOf(info), nil
	case "fs.lstat":
		return lstat(root, rest, path)
	case "fs.readdir":
		return listFolder(root, rest)
	case "fs.readFile":
		return readWhole(root, rest)
	}
	return nil, fmt.Errorf("%s is not available in scripts", op)
}

// lstat describes the last part of the path itself; permission.RealPath has followed it if it is a link.
func lstat(root *os.Root, rest, path string) (any, error) {
	parent := permission.RealPath(filepath.Dir(path))
	if at, err := filepath.Rel(root.Name(), filepath.Join(parent, filepath.Base(path))); err == nil && filepath.IsLocal(at) {
		rest = at
	}
	info, err := root.Lstat(rest)
	if err != nil {
		return nil, err
	}
	return entryOf(info), nil
}

func listFolder(root *os.Root, rest string) (any, error) {
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(rest))
	if err != nil {
		return nil, err
	}
	names := make([]fileEntry, 0, len(entries))
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // otherwise the file was removed
			names = append(names, entryOf(info))
		}
	}
	return names, nil
}

func readWhole(root *os.Root, rest string) (any, error) {
	info, err := root.Stat(rest)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, syscall.EISDIR
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("EINVAL: a script can only read regular files, not devices or pipes")
	}
	f, err := root.Open(rest)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead+1))
	if err == nil && len(b) > maxRead {
		err = fmt.Errorf("EFBIG: a script cannot read files larger than %d MB", maxRead/1_000_000)
	}
	return contentsOf(b), err
}

// errorNames holds the texts with which Node.js errors begin.
var errorNames = map[error]string{
	fs.ErrNotExist:   "ENOENT: no such file or directory",
	fs.ErrPermission: "EACCES: permission denied",
	syscall.ENOTDIR:  "ENOTDIR: not a directory",
	syscall.EISDIR:   "EISDIR: illegal operation on a directory",
	syscall.ELOOP:    "ELOOP: too many symbolic links encountered",
}

// systemError returns err with the wording of Node.js, without a path of this machine.
func systemError(err error) error {
	for known, words := range errorNames {
		if errors.Is(err, known) {
			return errors.New(words)
		}
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return errors.New("EIO: " + path.Err.Error())
	}
	if strings.HasPrefix(err.Error(), "E") {
		return err
	}
	return errors.New("EIO: " + err.Error())
}
