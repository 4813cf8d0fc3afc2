package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/os/home"
)

// files implements the file tools of one Config.
type files struct {
	granted    []string
	ownFolders []string   // folders of flowrun itself, beside those with a known name
	writing    sync.Mutex // held from reading a file until its change is written
}

// roots holds the folders that one call may work in.
type roots struct {
	workspace string // absolute; relative patterns start here
	list      []root // none is inside another one
}

// root is a granted folder: as it was named, and with its links resolved.
type root struct{ named, real string }

// roots returns the workspace and the folders of the settings. A folder inside another one is left out: it grants
// nothing more, and a write in the outer folder could replace it by a link.
func (f *files) roots(in *gostep.StepInput) *roots {
	rs := &roots{workspace: in.Workspace}
	var all []root
	for _, named := range append([]string{in.Workspace}, f.granted...) {
		named = rs.absolute(named)
		real, err := filepath.EvalSymlinks(named)
		if err != nil {
			continue
		}
		if info, err := os.Stat(real); err == nil && info.IsDir() {
			all = append(all, readableIn(root{named, real}, in.Readable)...)
		}
	}
	for i, r := range all {
		inner := slices.ContainsFunc(all[:i], func(o root) bool { return inside(o.real, r.real) || inside(o.named, r.named) }) ||
			slices.ContainsFunc(all[i+1:], func(o root) bool { return o.real != r.real && (inside(o.real, r.real) || inside(o.named, r.named)) })
		if !inner {
			rs.list = append(rs.list, r)
		}
	}
	return rs
}

// readableIn returns the folders of a root that enforced permissions let a tool read: all of it if nothing is enforced.
func readableIn(r root, readable []string) (list []root) {
	if readable == nil {
		return []root{r}
	}
	for _, path := range readable {
		real, err := filepath.EvalSymlinks(path)
		if info, e := os.Stat(real); err != nil || e != nil || !info.IsDir() {
			continue
		}
		switch {
		case inside(real, r.real):
			return []root{r}
		case inside(r.real, real):
			list = append(list, root{path, real})
		}
	}
	return list
}

// absolute returns a folder of the settings as an absolute path.
func (rs *roots) absolute(named string) string {
	if rest, ok := strings.CutPrefix(named, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if dir, err := home.Dir(); err == nil {
			named = dir + rest
		}
	}
	if !filepath.IsAbs(named) {
		named = filepath.Join(rs.workspace, named)
	}
	return filepath.Clean(named)
}

func inside(folder, path string) bool {
	_, ok := relativeTo(folder, path)
	return ok
}

// relativeTo returns the relative path from a folder to a path inside it; ok is false if the path is not inside.
func relativeTo(folder, path string) (string, bool) {
	rest, err := filepath.Rel(folder, path)
	return rest, err == nil && filepath.IsLocal(rest)
}

// place is a file or folder in a granted folder, which need not exist. path is absolute and without links; rest is
// the path relative to root.
type place struct {
	path, root, rest string
	folder           bool // the path ended in a slash
}

// find converts a path to a place. The error says what to write instead.
func (rs *roots) find(path string) (place, error) {
	if err := rs.checkForm(path); err != nil {
		return place{}, err
	}
	clean := filepath.Clean(path)
	real, err := resolved(clean)
	if err != nil && rs.holds(clean) {
		return place{}, describeError(path, err)
	}
	for _, r := range rs.list {
		if rest, ok := relativeTo(r.real, real); ok && err == nil {
			if system := systemFolder(real); system != "" && !inside(system, r.real) {
				return place{}, fmt.Errorf("%s is in %s, a system folder without files on disk; file tools do not use it", quoted(path), system)
			}
			return place{real, r.real, rest, os.IsPathSeparator(path[len(path)-1])}, nil
		}
	}
	return place{}, rs.outside(path, real, err)
}

// holds reports whether a path, as it is written, is in a granted folder.
func (rs *roots) holds(path string) bool {
	return slices.ContainsFunc(rs.list, func(r root) bool { return inside(r.named, path) || inside(r.real, path) })
}

// outside returns an error for a path outside of the granted folders that lists these.
func (rs *roots) outside(path, real string, err error) error {
	if len(rs.list) == 0 {
		return fmt.Errorf("file tools cannot be used: the workspace %s cannot be read, or the permissions of the tool that uses them do not list it", quoted(rs.workspace))
	}
	leads := ""
	if err == nil && rs.holds(filepath.Clean(path)) {
		leads = fmt.Sprintf(" (a link to %s)", quoted(real))
	}
	return fmt.Errorf("%s%s is outside the folders that file tools may use: %s; a person can add folders with the setting roots",
		quoted(path), leads, rs)
}

// String returns the names of the granted folders.
func (rs *roots) String() string {
	var list []string
	for _, r := range rs.list {
		list = append(list, r.named)
	}
	return strings.Join(list, ", ")
}

// maxPath limits the length of a path in bytes, like Linux.
const maxPath = 4096

// checkForm returns an error if a text is not an absolute path without "..".
func (rs *roots) checkForm(path string) error {
	guess := ""
	if g := filepath.Join(rs.workspace, path); len(path) < maxPath && rs.holds(g) {
		guess = fmt.Sprintf("; relative to the workspace, it would be %s", quoted(g))
	}
	switch {
	case path == "":
		return fmt.Errorf("the path is empty; give an absolute path, such as %s", quoted(filepath.Join(rs.workspace, "README.md")))
	case strings.ContainsRune(path, 0):
		return fmt.Errorf("%s contains a NUL byte, which no path can contain", quoted(path))
	case len(path) > maxPath:
		return fmt.Errorf("the path %s is %d bytes long; the limit is %d", quoted(path), len(path), maxPath)
	case strings.HasPrefix(path, "file:"):
		return fmt.Errorf("%s is a URL; give only the path, which starts with /", quoted(path))
	case path[0] == '~':
		return fmt.Errorf("%s: ~ is not expanded; give the absolute path", quoted(path))
	case slices.Contains(strings.FieldsFunc(path, isSeparator), ".."):
		return fmt.Errorf("%s contains ..; write the path as %s", quoted(path), quoted(filepath.Clean(path)))
	case !filepath.IsAbs(path):
		return &relativeError{fmt.Sprintf("%s is not an absolute path%s", quoted(path), guess)}
	}
	return nil
}

// relativeError reports that the only problem with a path is that it is not absolute.
type relativeError struct{ words string }

func (e *relativeError) Error() string { return e.words }

// searched returns the place for the path of a search, which may be relative to the workspace; "" is the workspace.
func (rs *roots) searched(path string) (place, error) {
	if path == "" {
		path = rs.workspace
	}
	var relative *relativeError
	if errors.As(rs.checkForm(path), &relative) {
		path = filepath.Join(rs.workspace, path)
	}
	return rs.find(path)
}

func isSeparator(r rune) bool { return r < 128 && os.IsPathSeparator(uint8(r)) }

// quoted returns a path for an error message: short, and on one line.
func quoted(path string) string {
	if len(path) > 300 {
		path = path[:300] + "..."
	}
	return fmt.Sprintf("%q", path)
}

// resolved returns a path with its links resolved, as far as it exists.
func resolved(path string) (string, error) {
	missing := ""
	for at := path; ; {
		real, err := filepath.EvalSymlinks(at)
		if err == nil {
			return filepath.Join(real, missing), nil
		}
		up := filepath.Dir(at)
		if !errors.Is(err, fs.ErrNotExist) || up == at {
			return "", err
		}
		missing = filepath.Join(filepath.Base(at), missing)
		at = up
	}
}

// systemFolder returns the folder of the kernel that contains a path, "" for none: its entries are not ordinary
// files, some never end or block forever, and /proc leads to all other files.
func systemFolder(path string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	for _, folder := range []string{"/proc", "/sys", "/dev"} {
		if inside(folder, path) {
			return folder
		}
	}
	return ""
}
