package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Folder is where the npm packages of one tool are installed. Its name contains a digest of
// the tool's dependencies and of its lock file: if they change, so does the folder.
type Folder string

// Packages returns the folder of a tool below root, "" if it has no dependencies. lock is the
// text of its lock file, nil if it has none.
func Packages(root, name string, list []tool.Dependency, lock []byte) Folder {
	if len(list) == 0 {
		return ""
	}
	text, _ := json.Marshal(list) // only names and version ranges
	sum := sha256.Sum256(append(text, lock...))
	return Folder(filepath.Join(root, name+"-"+hex.EncodeToString(sum[:8])))
}

// maxLock is the maximum size of a lock file in bytes.
const maxLock = 16 << 20

// LockFile returns the path of the lock file of the tool in a file. It names the exact versions
// of the packages, and is committed with the tool.
func LockFile(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) + ".lock" }

// ReadLock returns the text of the lock file of the tool in a file, nil if there is none.
func ReadLock(file string) []byte {
	path := LockFile(file)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxLock {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// Modules returns the folder's node_modules, "" if nothing has been installed.
func (f Folder) Modules() string {
	if f == "" {
		return ""
	}
	dir := filepath.Join(string(f), "node_modules")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() || ownership.CheckFile(dir) != nil || ownership.CheckFile(string(f)) != nil {
		return ""
	}
	return dir
}

// Package returns the path of a package in the folder, "" if it is not installed there.
func (f Folder) Package(name string) string {
	dir := filepath.Join(string(f), "node_modules", filepath.FromSlash(name))
	if info, err := os.Stat(dir); f == "" || err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// Beside returns the path of a package beside a tool's file: in node_modules of its folder
// or of one above it, up to the root of the repository. It returns "" if the package is not
// installed there.
func Beside(file, name string) string {
	root := home(filepath.Dir(file))
	for at := filepath.Dir(file); ; at = filepath.Dir(at) {
		dir := filepath.Join(at, "node_modules", filepath.FromSlash(name))
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		if at == root || filepath.Dir(at) == at {
			return ""
		}
	}
}

// Version returns the version of the package in a folder, "" if it has none.
func Version(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var manifest struct{ Version string }
	if err != nil || json.Unmarshal(diagnostic.WithoutMark(text), &manifest) != nil {
		return ""
	}
	return manifest.Version
}
