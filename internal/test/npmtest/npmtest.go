// Package npmtest gives tests programs of the npm registry that read what flowrun writes: compilers, generators of
// clients, language servers. A test installs exact versions into a folder of its own; scripts of packages do not run. Such
// a test is part of .ci/long only, because it needs the network. The package knows nothing of what the programs are for.
package npmtest

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// Modules is a folder with installed packages.
type Modules struct {
	t   testing.TB
	dir string // holds node_modules
}

// Install installs packages, each as NAME@VERSION. It skips the test if it is not a long one.
func Install(t testing.TB, packages ...string) Modules {
	t.Helper()
	sizetest.Need(t, sizetest.Long, "downloads packages from npm")
	needtest.Programs(t, "node", "npm")
	m := Modules{t, t.TempDir()}
	args := append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", m.dir}, packages...)
	if out, err := exec.Command("npm", args...).CombinedOutput(); err != nil {
		t.Fatalf("npm %q: %v\n%s", args, err, out)
	}
	return m
}

// Dir returns the folder. A script in it, or below it, can import the packages.
func (m Modules) Dir() string { return m.dir }

// Program returns the path of a JavaScript file of a package, such as typescript/bin/tsc.
func (m Modules) Program(file string) string { return filepath.Join(m.dir, "node_modules", file) }

// Node runs a JavaScript file with Node.js in a folder, and returns what it prints. The error has its exit code.
func (m Modules) Node(dir, file string, args ...string) (string, error) {
	c := exec.CommandContext(m.t.Context(), "node", append([]string{file}, args...)...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	return string(out), err
}
