package jsrun

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// Limits for the programs that a child stores. A child that reaches one of them is replaced.
const (
	maxPrograms     = 256
	maxProgramBytes = 32 << 20
)

// errStale is returned when a child did not receive the call because it had already ended.
var errStale = errors.New("the JavaScript process has ended")

// child is the program's handle of a child process.
type child struct {
	wire         *jsworld.Wire
	stdin        *os.File
	stdout       *os.File
	process      *os.Process
	programs     map[string]bool // digests of the programs that it stores
	programBytes int             // size of these programs in bytes
	ready        bool            // it has sent its ready frame
	unusable     bool            // it must not get another call: one is unfinished, or it has ended

	done   chan struct{} // closed when the process has ended; state and stderr are valid then
	state  *os.ProcessState
	stderr bytes.Buffer // the beginning of its error output, for crashes of the Go runtime
}

// startChild starts a child process. It does not wait until it is ready.
func startChild(c Config) (ch *child, err error) {
	program := c.Helper
	if program == "" {
		if program, err = ownPath(); err != nil {
			return nil, fmt.Errorf("cannot start the JavaScript process: cannot find the path of this program: %w", err)
		}
	}
	var parentEnds, childEnds [3]*os.File
	defer func() {
		closeAll(childEnds)
		if err != nil {
			closeAll(parentEnds)
		}
	}()
	for i := range parentEnds {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("cannot create a pipe for the JavaScript process: %w", err)
		}
		if parentEnds[i], childEnds[i] = r, w; i == 0 {
			parentEnds[i], childEnds[i] = w, r
		}
	}
	process, err := os.StartProcess(program, []string{jsworld.ChildName, strconv.FormatInt(c.Memory, 10)},
		&os.ProcAttr{Dir: string(os.PathSeparator), Env: childEnv(), Files: childEnds[:]})
	if err != nil {
		return nil, fmt.Errorf("cannot start the JavaScript process %q: %w", program, err)
	}
	ch = &child{wire: jsworld.NewWire(parentEnds[1], parentEnds[0]), stdin: parentEnds[0], stdout: parentEnds[1], process: process,
		programs: map[string]bool{}, done: make(chan struct{})}
	go ch.waitForEnd(parentEnds[2])
	return ch, nil
}

func closeAll(files [3]*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// ownPath returns the path of this program. On Linux it works even if the file was replaced or
// removed.
func ownPath() (string, error) {
	if runtime.GOOS == "linux" {
		if _, err := os.Stat("/proc/self/exe"); err == nil {
			return "/proc/self/exe", nil
		}
	}
	return os.Executable()
}

// childEnv returns the environment of a child: the time zone, and what Windows needs.
func childEnv() []string {
	env := []string{"GOTRACEBACK=none"}
	for _, name := range []string{"TZ", "SystemRoot"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// waitForEnd waits until the child has ended and stores the beginning of its error output.
func (ch *child) waitForEnd(stderr *os.File) {
	io.Copy(&ch.stderr, io.LimitReader(stderr, MaxMessage))
	io.Copy(io.Discard, stderr)
	stderr.Close()
	ch.state, _ = ch.process.Wait()
	close(ch.done)
}

// reusable reports whether the child can run another call.
func (ch *child) reusable() bool {
	return !ch.unusable && len(ch.programs) < maxPrograms && ch.programBytes < maxProgramBytes
}

// kill kills the child without waiting for its end.
func (ch *child) kill() { ch.process.Kill() }

// close kills the child and waits until it has ended.
func (ch *child) close() {
	ch.kill()
	<-ch.done
	ch.stdin.Close()
	ch.stdout.Close()
}
