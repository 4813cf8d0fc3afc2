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

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Keyboard is the terminal that flowrun was started on, lent to interactive steps and to questions.
// While a step has it, the step gets every key, including Ctrl-C, which the step's own terminal
// turns into a signal. Ctrl-C pressed three times within a second stops the run.
//
// TerminalWriter, SetView and Release may be called on a nil Keyboard.
type Keyboard struct {
	in             *os.File      // stdin
	fd             int           // descriptor of in
	lock           chan struct{} // full while a step or a question reads from the terminal
	display        io.Writer
	stdoutTerminal bool // stdout is a terminal
	raw            atomic.Bool

	mu          sync.Mutex
	savedModes  *term.State   // modes to restore; nil while no step has the terminal
	view        *console.View // suspended while a step or a question has the terminal; may be nil
	atLineStart bool          // the last output of the step ended a line
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
	k := &Keyboard{in: in, fd: int(in.Fd()), lock: make(chan struct{}, 1), stdoutTerminal: ui.IsTerminal(env.Stdout)}
	switch {
	case ui.IsTerminal(env.Stderr):
		k.display = env.Stderr
	case k.stdoutTerminal:
		k.display = env.Stdout
	default:
		return nil
	}
	return k
}

// TerminalWriter returns a writer for everything that the step does not print. While a step has the
// terminal in raw mode, the writer completes line ends.
func (k *Keyboard) TerminalWriter(w io.Writer) io.Writer {
	if k == nil || !ui.IsTerminal(w) {
		return w
	}
	return &ui.TerminalWriter{To: w, Raw: &k.raw}
}

// Stdout reports whether stdout is a terminal too.
func (k *Keyboard) Stdout() bool { return k.stdoutTerminal }

// inForeground returns an error if flowrun may not read from the terminal because it runs in the
// background.
func (k *Keyboard) inForeground() error {
	if group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return errors.New("flowrun runs in the background of its terminal; bring it to the foreground (fg), or use --no-input")
	}
	return nil
}

// Attach gives the terminal to a step. It waits until a question on the terminal is answered.
func (k *Keyboard) Attach(dag.ID) (terminal.Attachment, error) {
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
	h := &attachment{Keyboard: k, wake: wake, waker: waker, sizes: make(chan terminal.Size, 1), resized: make(chan os.Signal, 1)}
	signal.Notify(h.resized, syscall.SIGWINCH)
	h.sizes <- k.size()
	h.watcher.Go(h.watchSize)
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
	k.savedModes, k.atLineStart = modes, true
	k.raw.Store(true)
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
	if k.savedModes != nil {
		term.Restore(k.fd, k.savedModes)
		k.savedModes = nil
		k.raw.Store(false)
		if k.view != nil {
			if !k.atLineStart {
				io.WriteString(k.display, "\n")
			}
			k.view.Resume()
		}
	}
}

func (k *Keyboard) size() terminal.Size {
	cols, rows, err := term.GetSize(k.fd)
	if err != nil || cols <= 0 || rows <= 0 {
		return terminal.Size{Rows: 24, Cols: 80}
	}
	return terminal.Size{Rows: rows, Cols: cols}
}

// attachment is the keyboard while one step has it.
type attachment struct {
	*Keyboard
	wake, waker *os.File // closing waker ends Read
	sizes       chan terminal.Size
	resized     chan os.Signal
	watcher     sync.WaitGroup

	ctrlC      int
	firstCtrlC time.Time // time of the first Ctrl-C in a row
}

// watchSize sends new sizes. A size that has not been received yet is replaced.
func (h *attachment) watchSize() {
	for range h.resized {
		select {
		case <-h.sizes:
		default:
		}
		h.sizes <- h.size()
	}
}

// Size returns a channel with the size of the terminal: first the current one, then each change.
func (h *attachment) Size() <-chan terminal.Size { return h.sizes }

// Read waits for a key, or for Close. It polls, because the descriptor is shared with the program
// that started flowrun and so must not be made non-blocking.
func (h *attachment) Read(b []byte) (int, error) {
	n, err := h.readKeys(h.wake, b)
	if err == nil {
		h.stopOnCtrlC(b[:n])
	}
	return n, err
}

// readKeys waits for input, or for wake to become readable or closed; then it returns os.ErrClosed.
func (k *Keyboard) readKeys(wake *os.File, b []byte) (int, error) {
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

// stopCount is how many times Ctrl-C must be pressed within a second to stop the run.
const stopCount = 3

// stopOnCtrlC counts Ctrl-C and stops the run after stopCount of them.
func (h *attachment) stopOnCtrlC(keys []byte) {
	for _, key := range keys {
		if key != 3 || time.Since(h.firstCtrlC) > time.Second {
			h.ctrlC, h.firstCtrlC = 0, time.Now()
		}
		if key != 3 {
			continue
		}
		if h.ctrlC++; h.ctrlC == stopCount {
			h.ctrlC = 0
			syscall.Kill(os.Getpid(), syscall.SIGINT) // as the terminal would in normal mode
		}
	}
}

// Write shows what the step printed.
func (h *attachment) Write(b []byte) (int, error) {
	if len(b) > 0 {
		h.mu.Lock()
		h.atLineStart = b[len(b)-1] == '\n'
		h.mu.Unlock()
	}
	return h.display.Write(b)
}

// Close gives the terminal back.
func (h *attachment) Close() error {
	h.Release()
	<-h.lock
	signal.Stop(h.resized)
	close(h.resized)
	h.watcher.Wait()
	return h.waker.Close() // wakes Read; the garbage collector closes wake after Read has returned
}
