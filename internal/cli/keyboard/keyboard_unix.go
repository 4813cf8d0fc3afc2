//go:build unix

package keyboard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/console"
)

// Keyboard is the terminal that flowrun was started on, lent to interactive steps and to questions.
// While a step has it, the step gets every key, including Ctrl-C, which the step's own terminal
// turns into a signal. Ctrl-C pressed three times within a second stops the run.
//
// Screen, SetView and Release may be called on a nil Keyboard.
type Keyboard struct {
	in      *os.File      // stdin
	fd      int           // descriptor of in
	lock    chan struct{} // full while a step or a question reads from the terminal
	display io.Writer
	stdout  bool // stdout is a terminal
	taken   atomic.Bool

	mu    sync.Mutex
	modes *term.State   // modes to restore; nil while no step has the terminal
	view  *console.View // suspended while a step or a question has the terminal; may be nil
	ended bool          // the last output of the step ended a line
}

// SetView sets the live view that is suspended while a step or a question has the terminal.
func (k *Keyboard) SetView(v *console.View) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.view = v
}

// Open returns the terminal, or nil if no person can answer: stdin is not a terminal, noInput is
// set, or neither stdout nor stderr is a terminal.
func Open(env *ui.Env, noInput bool) *Keyboard {
	in, ok := env.Stdin.(*os.File)
	if noInput || !ok || !ui.IsTerminal(in) {
		return nil
	}
	k := &Keyboard{in: in, fd: int(in.Fd()), lock: make(chan struct{}, 1), stdout: ui.IsTerminal(env.Stdout)}
	switch {
	case ui.IsTerminal(env.Stderr):
		k.display = env.Stderr
	case k.stdout:
		k.display = env.Stdout
	default:
		return nil
	}
	return k
}

// Screen returns a writer for everything that the step does not print. While a step has the
// terminal in raw mode, the writer completes line ends.
func (k *Keyboard) Screen(w io.Writer) io.Writer {
	if k == nil || !ui.IsTerminal(w) {
		return w
	}
	return &ui.Screen{To: w, Taken: &k.taken}
}

// Stdout reports whether stdout is a terminal too.
func (k *Keyboard) Stdout() bool { return k.stdout }

// inForeground returns an error if flowrun may not read from the terminal because it runs in the
// background.
func (k *Keyboard) inForeground() error {
	if group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return errors.New("flowrun runs in the background of its terminal; bring it to the foreground (fg), or use --no-input")
	}
	return nil
}

// Attach gives the terminal to a step. It waits until a question on the terminal is answered.
func (k *Keyboard) Attach(dag.ID) (flowrun.Attachment, error) {
	if err := k.inForeground(); err != nil {
		return nil, err
	}
	wake, waker, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot create a pipe: %w", err)
	}
	k.lock <- struct{}{}
	if err := k.enterRawMode(); err != nil {
		<-k.lock
		wake.Close()
		waker.Close()
		return nil, fmt.Errorf("cannot take over the terminal: %w", err)
	}
	h := &attachment{Keyboard: k, wake: wake, waker: waker, sizes: make(chan flowrun.TerminalSize, 1), changed: make(chan os.Signal, 1)}
	signal.Notify(h.changed, syscall.SIGWINCH)
	h.sizes <- k.size()
	h.watching.Go(h.watch)
	return h, nil
}

// enterRawMode suspends the live view and sets the terminal to raw mode.
func (k *Keyboard) enterRawMode() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.view != nil {
		k.view.Suspend()
	}
	modes, err := term.MakeRaw(k.fd)
	if err != nil {
		if k.view != nil {
			k.view.Resume()
		}
		return err
	}
	k.modes, k.ended = modes, true
	k.taken.Store(true)
	return nil
}

// Release restores the modes of the terminal and resumes the live view. It may be called at any
// time, and more than once.
func (k *Keyboard) Release() {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.modes != nil {
		term.Restore(k.fd, k.modes)
		k.modes = nil
		k.taken.Store(false)
		if k.view != nil {
			if !k.ended {
				io.WriteString(k.display, "\n")
			}
			k.view.Resume()
		}
	}
}

func (k *Keyboard) size() flowrun.TerminalSize {
	cols, rows, err := term.GetSize(k.fd)
	if err != nil || cols <= 0 || rows <= 0 {
		return flowrun.TerminalSize{Rows: 24, Cols: 80}
	}
	return flowrun.TerminalSize{Rows: rows, Cols: cols}
}

// attachment is the keyboard while one step has it.
type attachment struct {
	*Keyboard
	wake, waker *os.File // closing waker ends Read
	sizes       chan flowrun.TerminalSize
	changed     chan os.Signal
	watching    sync.WaitGroup

	ctrlC int
	since time.Time // time of the first Ctrl-C in a row
}

// watch sends new sizes. A size that has not been received yet is replaced.
func (h *attachment) watch() {
	for range h.changed {
		select {
		case <-h.sizes:
		default:
		}
		h.sizes <- h.size()
	}
}

// Size returns a channel with the size of the terminal: first the current one, then each change.
func (h *attachment) Size() <-chan flowrun.TerminalSize { return h.sizes }

// Read waits for a key, or for Close. It polls, because the descriptor is shared with the program
// that started flowrun and so must not be made non-blocking.
func (h *attachment) Read(b []byte) (int, error) {
	n, err := h.keys(h.wake, b)
	if err == nil {
		h.stopOnCtrlC(b[:n])
	}
	return n, err
}

// keys waits for input, or for wake to become readable or closed; then it returns os.ErrClosed.
func (k *Keyboard) keys(wake *os.File, b []byte) (int, error) {
	for {
		ask := []unix.PollFd{{Fd: int32(k.fd), Events: unix.POLLIN}, {Fd: int32(wake.Fd()), Events: unix.POLLIN}}
		switch _, err := unix.Poll(ask, -1); {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, os.NewSyscallError("poll", err)
		case ask[1].Revents != 0:
			return 0, os.ErrClosed
		}
		n, err := syscall.Read(k.fd, b)
		switch {
		case err == syscall.EINTR || err == syscall.EAGAIN:
			continue
		case err != nil:
			return 0, os.NewSyscallError("read", err)
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// manyCtrlC is how many times Ctrl-C must be pressed within a second to stop the run.
const manyCtrlC = 3

// stopOnCtrlC counts Ctrl-C and stops the run after manyCtrlC of them.
func (h *attachment) stopOnCtrlC(keys []byte) {
	for _, key := range keys {
		if key != 3 || time.Since(h.since) > time.Second {
			h.ctrlC, h.since = 0, time.Now()
		}
		if key != 3 {
			continue
		}
		if h.ctrlC++; h.ctrlC == manyCtrlC {
			h.ctrlC = 0
			syscall.Kill(os.Getpid(), syscall.SIGINT) // as the terminal would in normal mode
		}
	}
}

// Write shows what the step printed.
func (h *attachment) Write(b []byte) (int, error) {
	if len(b) > 0 {
		h.mu.Lock()
		h.ended = b[len(b)-1] == '\n'
		h.mu.Unlock()
	}
	return h.display.Write(b)
}

// Close gives the terminal back.
func (h *attachment) Close() error {
	h.Release()
	<-h.lock
	signal.Stop(h.changed)
	close(h.changed)
	h.watching.Wait()
	return h.waker.Close() // wakes Read; the garbage collector closes wake after Read has returned
}
