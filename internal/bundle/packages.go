package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/tool"
)

// Folder is where the npm packages of one tool are kept. Its name has a digest of what the
// tool depends on: where that changes, it is another folder.
type Folder string

// Packages is the folder of a tool below root; "" where it depends on nothing.
func Packages(root, name string, list []tool.Dependency) Folder {
	if len(list) == 0 {
		return ""
	}
	text, _ := json.Marshal(list) // names and ranges alone
	sum := sha256.Sum256(text)
	return Folder(filepath.Join(root, name+"-"+hex.EncodeToString(sum[:8])))
}

// Modules is the folder's node_modules, "" where it has not been filled.
func (f Folder) Modules() string {
	if f == "" {
		return ""
	}
	dir := filepath.Join(string(f), "node_modules")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// Package is where the package of a name lies in the folder, "" where it does not.
func (f Folder) Package(name string) string {
	dir := filepath.Join(string(f), "node_modules", filepath.FromSlash(name))
	if info, err := os.Stat(dir); f == "" || err != nil || !info.IsDir() {
		return ""
	}
	return dir
}

// Beside is where the package of a name lies beside a tool's file: in node_modules of its
// folder or one above it, up to the root of the repository. "" where it does not.
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

// Version is the version of the package in a folder, "" where it says none.
func Version(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var manifest struct{ Version string }
	if err != nil || json.Unmarshal(text, &manifest) != nil {
		return ""
	}
	return manifest.Version
}
