package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"

	"github.com/flowrun/flowrun/internal/jsworld"
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
func startChild(c Config) (k *child, err error) {
	program := c.Helper
	if program == "" {
		if program, err = ownPath(); err != nil {
			return nil, fmt.Errorf("cannot start the JavaScript process: cannot find the path of this program: %w", err)
		}
	}
	var ours, theirs [3]*os.File
	defer func() {
		closeAll(theirs)
		if err != nil {
			closeAll(ours)
		}
	}()
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, fmt.Errorf("cannot create a pipe for the JavaScript process: %w", err)
		}
		if ours[i], theirs[i] = r, w; i == 0 {
			ours[i], theirs[i] = w, r
		}
	}
	process, err := os.StartProcess(program, []string{jsworld.ChildName, strconv.FormatInt(c.Memory, 10)},
		&os.ProcAttr{Dir: string(os.PathSeparator), Env: childEnv(), Files: theirs[:]})
	if err != nil {
		return nil, fmt.Errorf("cannot start the JavaScript process %q: %w", program, err)
	}
	k = &child{wire: jsworld.NewWire(ours[1], ours[0]), stdin: ours[0], stdout: ours[1], process: process,
		programs: map[string]bool{}, done: make(chan struct{})}
	go k.waitForEnd(ours[2])
	return k, nil
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
func (k *child) waitForEnd(stderr *os.File) {
	io.Copy(&k.stderr, io.LimitReader(stderr, MaxMessage))
	io.Copy(io.Discard, stderr)
	stderr.Close()
	k.state, _ = k.process.Wait()
	close(k.done)
}

// reusable reports whether the child can run another call.
func (k *child) reusable() bool {
	return !k.unusable && len(k.programs) < maxPrograms && k.programBytes < maxProgramBytes
}

// kill kills the child without waiting for its end.
func (k *child) kill() { k.process.Kill() }

// close kills the child and waits until it has ended.
func (k *child) close() {
	k.kill()
	<-k.done
	k.stdin.Close()
	k.stdout.Close()
}
