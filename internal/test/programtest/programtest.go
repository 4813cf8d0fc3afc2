//go:build unix

// Package programtest gives tests the flowrun program, to start it as a process of its own.
//
// The program is built once for all packages: it lies in .testbin at the top of the checkout, where
// go build finds that it is up to date. A test gets a link of its own, so that it keeps the
// program it began with while somebody builds a newer one. A package of tests that starts the program
// imports what the program consists of (internal/cli, internal/service/web), because go test answers from its
// cache while the test's own packages are the same.
package programtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Build makes dir/flowrun, with the build tags, and returns its path. It is called in TestMain or
// once in a test.
func Build(dir string, tags ...string) (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("cannot find the checkout: %w", err)
	}
	shared := filepath.Join(filepath.Dir(strings.TrimSpace(string(mod))), ".testbin")
	if err := os.MkdirAll(shared, 0o755); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(shared, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	built := filepath.Join(shared, strings.Join(append([]string{"flowrun"}, tags...), "-"))
	c := exec.Command("go", "build", "-ldflags", "-s -w", "-tags", strings.Join(tags, ","), "-o", built, "github.com/flowrun/flowrun/cmd/flowrun")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build flowrun: %w\n%s", err, out)
	}
	program := filepath.Join(dir, filepath.Base(built))
	return program, place(built, program)
}

// place links a file, or copies it to another file system.
func place(from, to string) error {
	err := os.Link(from, to)
	if !errors.Is(err, syscall.EXDEV) && !errors.Is(err, syscall.EPERM) {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o755)
}

// lock waits until this process alone holds the file.
func lock(file string) (unlock func(), err error) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return func() { f.Close() }, err
		}
	}
}
