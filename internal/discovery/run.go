package discovery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/procid"
)

const (
	grace      = time.Second // between TERM and KILL
	streamWait = time.Second // for a process that keeps a stream open and could not be stopped
	step       = "@discovery"
	maxQuoted  = 500 // bytes of standard error that are quoted in a message
)

// run starts a command and returns what it printed. Its standard input is empty. Processes
// that it leaves behind are stopped.
func run(ctx context.Context, argv []string, dir string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Limit, fmt.Errorf("it did not exit within %v", Limit))
	defer cancel()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	stdout, err := newStream("output", stop)
	if err != nil {
		return nil, err
	}
	defer stdout.close()
	stderr, err := newStream("errors", stop)
	if err != nil {
		return nil, err
	}
	defer stderr.close()
	exit, err := start(ctx, argv, dir, [3]*os.File{null, stdout.to, stderr.to}, func() {
		stdout.listen()
		stderr.listen()
	})
	stdout.end()
	stderr.end()
	if err == nil {
		err = context.Cause(ctx) // the command may have printed too much just before it exited
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

// start runs a program until it exits or ctx ends, and stops the processes that it leaves
// behind.
func start(ctx context.Context, argv []string, dir string, files [3]*os.File, begun func()) (exit proc.Exit, err error) {
	path, err := find(argv[0], dir)
	if err != nil {
		return exit, err
	}
	mark := procid.Mark(step+rand.Text(), 1) // unique, because the processes to stop are found by the mark
	host := proc.Open(mark)
	defer func() {
		_, closeErr := host.Close(context.WithoutCancel(ctx), 0)
		err = errors.Join(err, closeErr)
	}()
	env := append(os.Environ(), procid.MarkOwner+"="+mark, procid.MarkStep+"="+step, "PWD="+dir)
	p, err := host.Start(proc.Spec{Step: step, Path: path, Args: argv, Env: env, Dir: dir, Files: files})
	if err != nil {
		return exit, err
	}
	begun()
	if exit, err = p.Wait(ctx); err != nil {
		p.Stop(grace, nil)
	}
	return exit, err
}

// find returns the file of a program. A relative path is relative to dir.
func find(name, dir string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", errors.New("the program was not found in PATH")
	}
	return filepath.Abs(path)
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

// stream is one of the command's streams, and what was read from it.
type stream struct {
	name     string
	from, to *os.File
	text     []byte // valid when done is closed
	done     chan struct{}
	stop     context.CancelCauseFunc // stops a command that prints too much
}

func newStream(name string, stop context.CancelCauseFunc) (*stream, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot create a pipe: %w", err)
	}
	return &stream{name: name, from: from, to: to, stop: stop}, nil
}

// listen starts to read the stream.
func (s *stream) listen() {
	s.to.Close()
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.text, _ = io.ReadAll(io.LimitReader(s.from, MaxDeclarations+1))
		if len(s.text) > MaxDeclarations {
			s.stop(fmt.Errorf("it printed more than %d MB of %s", MaxDeclarations>>20, s.name))
			s.from.Close() // so that the command does not block on writing
		}
	}()
}

// end waits for the rest of the output of a command that has exited.
func (s *stream) end() {
	if s.done == nil {
		return
	}
	s.from.SetReadDeadline(time.Now().Add(streamWait))
	select {
	case <-s.done:
	case <-time.After(2 * streamWait): // for pipes that do not support deadlines
		s.from.Close()
		<-s.done
	}
}

func (s *stream) close() {
	s.to.Close()
	s.from.Close()
}
