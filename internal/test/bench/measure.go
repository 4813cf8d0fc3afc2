//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// command is a command to measure. It runs in its own folder Dir.
type command struct {
	Argv   []string
	Dir    string
	Stdout string // "" discards the output, drained reads it through a pipe, anything else is a file in Dir
}

const drained = "|"

// sample is what one command used, including the processes that it waited for.
type sample struct {
	Wall time.Duration
	CPU  time.Duration // user and system
	RSS  int64         // peak of the largest process, in bytes
	Fail string        // why the command failed; "" if it succeeded
}

const (
	maxCommandTime = time.Minute      // time limit of one command
	grace          = 15 * time.Second // time to end after TERM; flowrun gives its steps 10 s
)

// takeSample measures a command in a new process of this program, because the peak memory that
// wait4 reports for a child is at least that of its parent.
func takeSample(ctx context.Context, self string, c command) (s sample, err error) {
	arg, err := json.Marshal(c)
	if err != nil {
		return s, fmt.Errorf("cannot describe a command: %w", err)
	}
	m := exec.CommandContext(ctx, self, "measure", string(arg))
	m.Stderr = os.Stderr
	m.Cancel = func() error { return m.Process.Signal(syscall.SIGTERM) }
	out, err := m.Output()
	if ctx.Err() != nil {
		return s, ctx.Err()
	}
	if err == nil {
		err = json.Unmarshal(out, &s)
	}
	if err != nil {
		return s, fmt.Errorf("cannot measure %s: %w", c.Argv[0], err)
	}
	return s, nil
}

// measure implements the role that take starts: "measure JSON" runs the command and prints the
// sample. On a signal, or after the time limit, it ends the command's process group.
func measure(args []string) error {
	var c command
	if err := json.Unmarshal([]byte(strings.Join(args, " ")), &c); err != nil || len(c.Argv) == 0 {
		return fmt.Errorf("cannot read the command %q: want a command as JSON", args)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeoutCause(ctx, maxCommandTime, fmt.Errorf("took longer than %v", maxCommandTime))
	defer cancel()
	s, err := c.measure(ctx)
	if err != nil {
		return fmt.Errorf("cannot run: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(s)
}

func (c command) measure(ctx context.Context) (s sample, err error) {
	cmd := exec.CommandContext(ctx, c.Argv[0], c.Argv[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(c.Dir, "state"), "DAGU_HOME="+filepath.Join(c.Dir, "state"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = grace
	stderr, err := os.Create(filepath.Join(c.Dir, "stderr"))
	if err != nil {
		return s, err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	switch c.Stdout {
	case "":
	case drained:
		cmd.Stdout = struct{ io.Writer }{io.Discard} // hides ReadFrom, which reads only 8 KiB at a time
	default:
		f, err := os.Create(filepath.Join(c.Dir, c.Stdout))
		if err != nil {
			return s, err
		}
		defer f.Close()
		cmd.Stdout = f
	}

	began := time.Now()
	err = cmd.Run()
	s.Wall = time.Since(began)
	p := cmd.ProcessState
	if p == nil {
		return s, err // it never started
	}
	s.CPU = p.UserTime() + p.SystemTime()
	if usage, ok := p.SysUsage().(*syscall.Rusage); ok {
		s.RSS = int64(usage.Maxrss) << 10
		if runtime.GOOS == "darwin" {
			s.RSS = int64(usage.Maxrss) // in bytes on macOS, in KiB elsewhere
		}
	}
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		output := make([]byte, 200)
		n, _ := stderr.ReadAt(output, 0)
		s.Fail = fmt.Sprintf("%v: %q", err, output[:n])
	}
	return s, nil
}
