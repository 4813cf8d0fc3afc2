package steps

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/mask"
)

// tty is the terminal of an interactive step: the step has the slave, we have the
// master and what the step prints comes out of it. We keep the slave open as well,
// to see whether what was typed has been read.
type tty struct {
	master, slave *os.File
	heldCR        bool // a carriage return was held back: a line's end may follow
	start         time.Time
	lastActivity  atomic.Int64 // when something was printed or typed, since began

	showLock   sync.Mutex   // held while something is shown, however long that takes
	shown      *mask.Writer // to the person; nil: nobody
	person     io.Writer
	personGone atomic.Bool // the person looks at something else
}

// newTTY makes a terminal. Where a person looks at it, it echoes what is typed and
// ends lines as terminals do; else it does neither, so that what the step prints
// reads as if nobody had been there.
func newTTY(person io.Writer, secrets *mask.Mask) (*tty, error) {
	master, slave, err := openPty(person != nil)
	if err != nil {
		return nil, startError{126, fmt.Sprintf("cannot make a terminal for an interactive step: %v", err)}
	}
	p := &tty{master: master, slave: slave, start: time.Now(), person: person}
	if person != nil {
		p.shown = secrets.Writer(person)
	}
	p.resize(usualSize)
	return p, nil
}

// Read is what the step prints, with line ends as in any other output. It is for one
// goroutine. The error at the end is the system's: all slaves are closed.
func (p *tty) Read(b []byte) (int, error) {
	from := 0
	if p.heldCR {
		b[0], from = '\r', 1
	}
	n, err := p.master.Read(b[from:])
	if n > 0 {
		p.show(b[from : from+n])
	}
	all := b[:from+n]
	p.heldCR = err == nil && all[len(all)-1] == '\r'
	if p.heldCR {
		all = all[:len(all)-1]
	}
	to := 0
	for i, c := range all {
		if c == '\r' && i+1 < len(all) && all[i+1] == '\n' {
			continue
		}
		b[to] = c
		to++
	}
	return to, err
}

// show lets the person see what was printed.
func (p *tty) show(b []byte) {
	p.noteActivity()
	p.showLock.Lock()
	defer p.showLock.Unlock()
	if p.shown != nil && !p.personGone.Load() {
		p.shown.Write(b) // a person who cannot see it can still read the log
	}
}

// printNotice says something to the person that is not the step's.
func (p *tty) printNotice(text string) {
	p.showLock.Lock()
	defer p.showLock.Unlock()
	if p.person != nil && !p.personGone.Load() {
		io.WriteString(p.person, "\r\n"+text+"\r\n")
	}
}

// detachPerson is for when the person turns to something else: nothing more is shown. It
// waits for nobody.
func (p *tty) detachPerson() {
	if p != nil {
		p.personGone.Store(true)
	}
}

// noteActivity notes that something was printed or typed.
func (p *tty) noteActivity() { p.lastActivity.Store(int64(time.Since(p.start))) }

// silence is for how long nothing was.
func (p *tty) silence() time.Duration {
	return time.Since(p.start) - time.Duration(p.lastActivity.Load())
}

// typeIn is a person's, or our, typing. A step that does not read is not waited for
// any longer than its terminal takes to fill.
func (p *tty) typeIn(b []byte) {
	p.noteActivity()
	p.master.SetWriteDeadline(time.Now().Add(time.Second)) // best effort: not every system can
	p.master.Write(b)
}

// closeSlave lets go of the slave: when the step has as well, its output ends.
func (p *tty) closeSlave() {
	if p != nil {
		p.slave.Close()
	}
}

// Close ends the reading side; it is the last of the terminal. What was held back as
// the beginning of a secret is shown.
func (p *tty) Close() error {
	p.showLock.Lock()
	defer p.showLock.Unlock()
	if p.shown != nil && !p.personGone.Load() {
		p.shown.Flush()
	}
	return p.master.Close()
}

// SetReadDeadline ends a Read. Where the system cannot do that to a terminal it is
// closed, and Read ends with the last process that has it.
func (p *tty) SetReadDeadline(t time.Time) error {
	if p.master.SetReadDeadline(t) == nil {
		return nil
	}
	return p.master.Close()
}
