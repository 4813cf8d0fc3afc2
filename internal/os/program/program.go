// Package program runs programs that the settings name, and returns what they print.
package program

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

const (
	grace      = time.Second // between TERM and KILL
	streamWait = time.Second // for a process that keeps a stream open and could not be stopped
	maxQuoted  = 500         // bytes of standard error that are quoted in a message
)

// Call describes one run of a program, without a shell.
type Call struct {
	Argv      []string
	Dir       string        // working directory; the program's path may be relative to it
	Input     []byte        // its standard input
	Step      string        // the step to which its processes belong
	Domain    procid.Domain // which programs end what is left of it if this one is killed
	Limit     time.Duration // how long it may take
	MaxOutput int           // how much it may print to each stream, in bytes
}

// Run runs the program and returns its standard output. An exit code other than 0 is an error. The
// error is context.Cause(ctx) if ctx ended first. All processes of the program have ended when Run
// returns.
func (c Call) Run(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.Limit, fmt.Errorf("it did not exit within %v", c.Limit))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	stdin, err := newStream("input", 0, stop)
	if err != nil {
		return nil, err
	}
	defer stdin.close()
	stdout, err := newStream("output", c.MaxOutput, stop)
	if err != nil {
		return nil, err
	}
	defer stdout.close()
	stderr, err := newStream("errors", c.MaxOutput, stop)
	if err != nil {
		return nil, err
	}
	defer stderr.close()
	exit, err := c.start(ctx, [3]*os.File{stdin.from, stdout.to, stderr.to}, func() {
		stdin.feed(c.Input)
		stdout.listen()
		stderr.listen()
	})
	stdout.end()
	stderr.end()
	if err == nil {
		err = context.Cause(ctx) // the program may have printed too much just before it exited
	}
	switch {
	case err != nil && ctx.Err() == nil: // it never ran
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w%s", err, quoteStderr(stderr.text))
	case exit.Signal != 0:
		return nil, fmt.Errorf("it was terminated by signal %d (%v)%s", int(exit.Signal), exit.Signal, quoteStderr(stderr.text))
	case exit.Code != 0:
		return nil, fmt.Errorf("it failed with exit code %d%s", exit.Code, quoteStderr(stderr.text))
	}
	return stdout.text, nil
}

// start runs the program until it exits or ctx ends, and stops the processes that it leaves behind.
func (c Call) start(ctx context.Context, files [3]*os.File, begun func()) (exit proc.Exit, err error) {
	path, err := programfile.Find(c.Argv[0], c.Dir)
	if err != nil {
		return exit, err
	}
	mark := procid.Mark(c.Step+rand.Text(), 1) // unique, because the processes to stop are found by the mark
	host := proc.Open(mark, c.Domain)
	defer func() {
		_, closeErr := host.Close(context.WithoutCancel(ctx), 0)
		err = errors.Join(err, closeErr)
	}()
	env := append(os.Environ(), procid.MarkOwner+"="+mark, procid.MarkStep+"="+c.Step, "PWD="+c.Dir)
	p, err := host.Start(proc.Spec{Step: c.Step, Path: path, Args: c.Argv, Env: env, Dir: c.Dir, Files: files})
	if err != nil {
		return exit, err
	}
	begun()
	if exit, err = p.Wait(ctx); err != nil {
		p.Stop(grace, nil)
	}
	return exit, err
}

// quoteStderr quotes the beginning of standard error, for the end of a message.
func quoteStderr(text []byte) string {
	s := strings.TrimSpace(strings.ToValidUTF8(string(text[:min(len(text), maxQuoted)]), ""))
	if s == "" {
		return ""
	}
	if len(text) > maxQuoted {
		s += "..."
	}
	return "; it printed " + strconv.Quote(s)
}
