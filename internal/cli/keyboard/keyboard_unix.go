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

// Keyboard is the terminal that flowrun was started on, for interactive steps. While
// a step has it, every key is the step's, Ctrl-C too: the step's own terminal makes a
// signal of it. Ctrl-C three times within a second is for flowrun.
type Keyboard struct {
	in      *os.File      // stdin
	fd      int           // its descriptor
	lock    chan struct{} // held by whoever reads from it: a step, or a question
	display io.Writer
	stdout  bool // is a terminal
	taken   atomic.Bool

	mu    sync.Mutex
	modes *term.State   // to be restored; nil while nobody has it
	view  *console.View // makes room meanwhile; nil: there is none
	ended bool          // what the step wrote last was the end of a line
}

// SetView says which view is on the terminal.
func (k *Keyboard) SetView(v *console.View) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.view = v
}

// Open is nil where nobody can answer.
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

// Screen is a writer for what is not the step's.
func (k *Keyboard) Screen(w io.Writer) io.Writer {
	if k == nil || !ui.IsTerminal(w) {
		return w
	}
	return &ui.Screen{To: w, Taken: &k.taken}
}

// Stdout says whether the run's output is seen there too.
func (k *Keyboard) Stdout() bool { return k.stdout }

// inForeground says whether flowrun may read from the terminal.
func (k *Keyboard) inForeground() error {
	if group, err := unix.IoctlGetInt(k.fd, unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		return errors.New("flowrun runs in the background of its terminal; bring it to the foreground (fg), or use --no-input")
	}
	return nil
}

// Attach gives the terminal to a step, once a question that is asked is answered.
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

// enterRawMode makes the terminal ready for a step.
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

// Release gives the terminal back as it was. It may be called at any time.
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

// attachment is the keyboard in the hands of one step.
type attachment struct {
	*Keyboard
	wake, waker *os.File // a byte in it ends Read
	sizes       chan flowrun.TerminalSize
	changed     chan os.Signal
	watching    sync.WaitGroup

	ctrlC int
	since time.Time // of the first Ctrl-C in a row
}

// watch tells new sizes; one that nobody has asked for yet is replaced.
func (h *attachment) watch() {
	for range h.changed {
		select {
		case <-h.sizes:
		default:
		}
		h.sizes <- h.size()
	}
}

// Size sends the size of the terminal, at first and when it changes.
func (h *attachment) Size() <-chan flowrun.TerminalSize { return h.sizes }

// Read waits for a key, or for Close. The descriptor is shared with whoever started
// flowrun, so it is not made non-blocking.
func (h *attachment) Read(b []byte) (int, error) {
	n, err := h.keys(h.wake, b)
	if err == nil {
		h.stopOnCtrlC(b[:n])
	}
	return n, err
}

// keys waits for what is typed, or for a byte in wake.
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

// manyCtrlC is how many Ctrl-C in a row, within a second, stop the run.
const manyCtrlC = 3

// stopOnCtrlC looks for the Ctrl-C that are for flowrun.
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
			syscall.Kill(os.Getpid(), syscall.SIGINT) // as if the terminal had
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
	return h.waker.Close() // wakes Read; wake itself goes with the garbage, when Read has returned
}
