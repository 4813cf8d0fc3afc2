package library

import (
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/os/ownership"
)

// finder finds and lists the definitions of whole folders. Safe for concurrent use.
type finder struct {
	*reader
	indexes  *indexes
	folders  folders               // those of the scopes
	progress func(read, total int) // Config.Progress
}

// findFile returns the file in a folder that defines the named tool, or "". It prefers a file with that name which also
// declares it, then another file that declares it, then a file with that name which declares a different one.
func (f *finder) findFile(dir, name string) string {
	called := f.fileNamed(dir, name)
	if called != "" && f.folders.has(dir) && !ownership.Counts(called) {
		called = ""
	}
	if called != "" && f.declares(called, name) {
		return called
	}
	known, now := f.indexes.of(dir), f.now()
	files, _ := f.files(dir)
	for _, file := range files {
		e := known.valid(file, now)
		if e != nil && e.tool.Name == name || e == nil && file != called && f.declares(file, name) {
			return file
		}
	}
	return called
}

// fileNamed returns the file in a folder that has the given name, or "".
func (f *finder) fileNamed(dir, name string) string {
	for _, e := range f.byPreference() {
		file := filepath.Join(dir, name+e)
		info, err := os.Stat(file)
		if err == nil && info.Mode().IsRegular() && !f.isNotTool(file) || err != nil && pathExists(file) {
			return file
		}
	}
	return ""
}

// pathExists reports whether a path exists, even as a symbolic link without a target.
func pathExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// files returns the definition files in a folder, sorted. It returns none if the folder does not exist.
func (f *finder) files(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	guards := f.folders.has(dir)
	var files []string
	for _, e := range entries {
		if e.IsDir() || f.extension(e.Name()) == "" {
			continue
		}
		if file := filepath.Join(dir, e.Name()); !guards || ownership.Counts(file) {
			files = append(files, file)
		}
	}
	return files, err
}
