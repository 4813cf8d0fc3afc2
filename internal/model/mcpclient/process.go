package mcpclient

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

const (
	// exitWait is how long a program may take to end after the end of its input, and grace how long
	// after TERM.
	exitWait = 2 * time.Second
	grace    = time.Second
	// serverStep is the step to which the processes of servers belong.
	serverStep = "@mcp"
)

// process is a server that is a program. It is also the transport to it. A nil process is none.
type process struct {
	host    proc.Host
	program proc.Process
	in      *os.File // what flowrun writes
	out     *os.File // what flowrun reads
	pipes   *pipes
	stderr  *tail

	once sync.Once
	exit proc.Exit
	err  error // why it had to be stopped; valid after close
}

// startProcess starts the program of a server. If this process is killed, the next one with the same
// state directory ends what is left of the server.
func startProcess(c ServerConfig, stateDir string) (*process, error) {
	path, err := programfile.Find(c.Command, c.Dir)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", c.Command, err)
	}
	mark := procid.Mark(serverStep+rand.Text(), 1) // unique, because the processes to stop are found by the mark
	p := &process{host: proc.Open(mark, procid.DomainOf(stateDir)), stderr: &tail{done: make(chan struct{})}}
	var files [3]*os.File // of the program
	var own [3]*os.File
	closeAll := func(list []*os.File) {
		for _, f := range list {
			f.Close() // a nil file is none
		}
	}
	for i := range files {
		from, to, err := os.Pipe()
		if err != nil {
			closeAll(files[:])
			closeAll(own[:])
			return nil, fmt.Errorf("cannot create a pipe: %w", err)
		}
		if files[i], own[i] = to, from; i == 0 {
			files[i], own[i] = from, to
		}
	}
	p.program, err = p.host.Start(proc.Spec{Step: serverStep, Path: path, Args: append([]string{c.Command}, c.Args...), Env: environment(c, mark), Dir: c.Dir, Files: files})
	closeAll(files[:])
	if err != nil {
		closeAll(own[:])
		_, _ = p.host.Close(context.Background(), 0) // nothing was started
		return nil, err
	}
	p.in, p.out = own[0], own[1]
	p.pipes = newPipes(p.out, p.in)
	go p.stderr.read(own[2])
	return p, nil
}

// passed are the environment variables that a server gets. It gets no others, because they may be
// secrets of other programs.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"}

// passedOnWindows are those that programs need on Windows.
var passedOnWindows = []string{"PATH", "PATHEXT", "USERPROFILE", "USERNAME", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "TEMP", "TMP", "PROCESSOR_ARCHITECTURE"}

// chainVariable names the servers that this process is part of, so that a server which is flowrun
// itself does not start itself again.
const chainVariable = "FLOWRUN_MCP_CHAIN"

// environment returns the environment of a server whose processes have a mark. Its settings replace what it inherits,
// but not what flowrun sets.
func environment(c ServerConfig, mark string) (env []string) {
	names := passed
	if runtime.GOOS == "windows" {
		names = passedOnWindows
	}
	vars := map[string]string{}
	for _, name := range names {
		if v, ok := os.LookupEnv(name); ok {
			vars[name] = v
		}
	}
	maps.Copy(vars, c.Env)
	maps.Copy(vars, map[string]string{"PWD": c.Dir, chainVariable: strings.Join(append(chain(), c.Name), ","), procid.MarkOwner: mark, procid.MarkStep: serverStep})
	for name, v := range vars {
		env = append(env, name+"="+v)
	}
	return env
}

// chain returns the servers that this process is part of.
func chain() []string {
	return slices.DeleteFunc(strings.Split(os.Getenv(chainVariable), ","), func(s string) bool { return s == "" })
}

// Connect implements mcp.Transport.
func (p *process) Connect(context.Context) (mcp.Connection, error) { return p.pipes, nil }

// endInput ends the input of the program, so that it ends.
func (p *process) endInput() {
	if p != nil {
		p.in.Close()
	}
}

// close ends the program and everything that it has started.
func (p *process) close() {
	if p == nil {
		return
	}
	p.once.Do(func() {
		p.in.Close()
		ctx, cancel := context.WithTimeoutCause(context.Background(), exitWait, errors.New("it had to be stopped"))
		defer cancel()
		if p.exit, p.err = p.program.Wait(ctx); p.err != nil {
			p.program.Stop(grace, nil)
		}
		_, _ = p.host.Close(context.Background(), 0) // what survives is ended by the next flowrun process
		p.out.Close()
		p.stderr.wait()
	})
}

// ended says how the program, or the connection to it, ended.
func (p *process) ended() string {
	p.close()
	switch fault := p.pipes.failure(); {
	case fault != nil:
		return fault.Error()
	case p.err != nil:
		return "it closed its output"
	case p.exit.Signal != 0:
		return fmt.Sprintf("it was terminated by signal %d (%v)", int(p.exit.Signal), p.exit.Signal)
	}
	return fmt.Sprintf("it ended with exit code %d", p.exit.Code)
}

// tail keeps the end of what a program prints to stderr.
type tail struct {
	done chan struct{}

	mu   sync.Mutex
	text []byte
}

// maxTail is how much is kept, in bytes. Messages quote the last lines of it.
const (
	maxTail   = 4 << 10
	tailLines = 5
)

func (t *tail) read(from *os.File) {
	defer close(t.done)
	defer from.Close()
	part := make([]byte, maxTail)
	for {
		n, err := from.Read(part)
		t.mu.Lock()
		t.text = append(t.text, part[:n]...)
		t.text = t.text[max(0, len(t.text)-maxTail):]
		t.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// wait waits until everything was read, but not for processes that keep the stream open.
func (t *tail) wait() {
	select {
	case <-t.done:
	case <-time.After(time.Second):
	}
}

// quoted returns the last lines for the end of a message.
func (t *tail) quoted() string {
	select {
	case <-t.done:
	case <-time.After(100 * time.Millisecond): // what it printed last often says why
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	if text := strings.TrimSpace(strings.Join(lines, "\n")); text != "" {
		return "; it printed: " + text
	}
	return ""
}
