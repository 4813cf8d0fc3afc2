//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
)

// spawn is the limit of workloads that run processes: "spawn N WORKERS COMMAND..." starts the
// command N times, WORKERS at once, and waits for each. It captures and records nothing.
func spawn(args []string) error {
	var n int64
	var workers uint16
	if _, err := fmt.Sscan(strings.Join(args, " "), &n, &workers); err != nil || len(args) < 3 {
		return fmt.Errorf("cannot spawn %q: want N WORKERS COMMAND", args)
	}
	argv := args[2:]
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("cannot spawn: %w", err)
	}
	attr := &syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2}}
	var begun atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		group.Go(func() {
			for errs[i] == nil && begun.Add(1) <= n {
				errs[i] = spawnOne(path, argv, attr)
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

func spawnOne(path string, argv []string, attr *syscall.ProcAttr) error {
	pid, err := syscall.ForkExec(path, argv, attr)
	if err != nil {
		return fmt.Errorf("cannot spawn %s: %w", path, err)
	}
	var status syscall.WaitStatus
	for err = syscall.EINTR; err == syscall.EINTR; {
		_, err = syscall.Wait4(pid, &status, 0, nil)
	}
	if err != nil || status != 0 {
		return fmt.Errorf("cannot spawn %s: wait status %#x, error %v", path, status, err)
	}
	return nil
}
