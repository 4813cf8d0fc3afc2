// Affected reads the paths of changed files from its standard input, one a line, and prints the packages to
// test before such a change is committed:
//
//   - the packages that hold the files, also those in testdata and other folders without Go files; pages and
//     scripts that lie in no package belong to none
//   - the packages that import one of these, in their code or in their tests
//   - the packages that hold nothing but tests and import one of both, because that is where what the
//     others do is tried as a whole
//   - internal/test/repositorytest, which holds the rules of the repository
//
// It is the list for .ci/quick. What lies further away is left to go test ./...
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	list, err := load()
	if err == nil {
		err = run(list, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "affected:", err)
		os.Exit(1)
	}
}

// rules is the package with the rules of the repository, which every change may break.
const rules = "internal/test/repositorytest"

// source is a package as go list describes it. dir is its folder in the repository, "." for the top.
type source struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	dir                                string
}

// load returns the packages of the module in the current folder.
func load() ([]source, error) {
	top, err := filepath.Abs(".")
	if err != nil {
		return nil, err
	}
	c := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...", "./.ci/affected", "./.ci/gotest")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	var list []source
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var s source
		if err := d.Decode(&s); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		rel, err := filepath.Rel(top, s.Dir)
		if err != nil {
			return nil, err
		}
		s.dir = filepath.ToSlash(rel)
		list = append(list, s)
	}
}

func run(list []source, r io.Reader, w io.Writer) error {
	var files []string
	for lines := bufio.NewScanner(r); lines.Scan(); {
		files = append(files, lines.Text())
	}
	for _, dir := range affected(list, files) {
		fmt.Fprintln(w, "./"+dir)
	}
	return nil
}

// affected returns the folders of the packages that have tests and that a change of the files affects, sorted.
func affected(list []source, files []string) []string {
	holds := map[string]bool{} // import paths
	for _, f := range files {
		if s := holder(list, f); s != nil {
			holds[s.ImportPath] = true
		}
	}
	near := grow(list, holds, func(source) bool { return true })
	near = grow(list, near, func(s source) bool { return len(s.GoFiles) == 0 })
	dirs := []string{rules}
	for _, s := range list {
		if near[s.ImportPath] && s.dir != rules && len(s.TestGoFiles)+len(s.XTestGoFiles) > 0 {
			dirs = append(dirs, s.dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// holder returns the package in the folder of a file, or in the nearest folder above it that has one. The package at
// the top holds its own Go files alone, not all pages and scripts.
func holder(list []source, file string) *source {
	for dir := path.Dir(file); dir != "." || path.Ext(file) == ".go" && !strings.Contains(file, "/"); dir = path.Dir(dir) {
		if i := slices.IndexFunc(list, func(s source) bool { return s.dir == dir }); i >= 0 {
			return &list[i]
		}
	}
	return nil
}

// grow adds the packages that import one of a set and that fit.
func grow(list []source, set map[string]bool, fits func(source) bool) map[string]bool {
	larger := map[string]bool{}
	for _, s := range list {
		imports := slices.Concat(s.Imports, s.TestImports, s.XTestImports)
		larger[s.ImportPath] = set[s.ImportPath] || fits(s) && slices.ContainsFunc(imports, func(p string) bool { return set[p] })
	}
	return larger
}
