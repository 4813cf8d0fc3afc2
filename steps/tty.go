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
	cr            bool // a carriage return was held back: a line's end may follow
	began         time.Time
	last          atomic.Int64 // when something was printed or typed, since began

	showing sync.Mutex   // held while something is shown, however long that takes
	shown   *mask.Writer // to the person; nil: nobody
	person  io.Writer
	gone    atomic.Bool // the person looks at something else
}

// newTTY makes a terminal. Where a person looks at it, it echoes what is typed and
// ends lines as terminals do; else it does neither, so that what the step prints
// reads as if nobody had been there.
func newTTY(person io.Writer, secrets *mask.Mask) (*tty, error) {
	master, slave, err := openPty(person != nil)
	if err != nil {
		return nil, startError{126, fmt.Sprintf("cannot make a terminal for an interactive step: %v", err)}
	}
	p := &tty{master: master, slave: slave, began: time.Now(), person: person}
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
	if p.cr {
		b[0], from = '\r', 1
	}
	n, err := p.master.Read(b[from:])
	if n > 0 {
		p.show(b[from : from+n])
	}
	all := b[:from+n]
	p.cr = err == nil && all[len(all)-1] == '\r'
	if p.cr {
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
	p.stirred()
	p.showing.Lock()
	defer p.showing.Unlock()
	if p.shown != nil && !p.gone.Load() {
		p.shown.Write(b) // a person who cannot see it can still read the log
	}
}

// tell says something to the person that is not the step's.
func (p *tty) tell(text string) {
	p.showing.Lock()
	defer p.showing.Unlock()
	if p.person != nil && !p.gone.Load() {
		io.WriteString(p.person, "\r\n"+text+"\r\n")
	}
}

// forget is for when the person turns to something else: nothing more is shown. It
// waits for nobody.
func (p *tty) forget() {
	if p != nil {
		p.gone.Store(true)
	}
}

// stirred notes that something was printed or typed.
func (p *tty) stirred() { p.last.Store(int64(time.Since(p.began))) }

// silence is for how long nothing was.
func (p *tty) silence() time.Duration { return time.Since(p.began) - time.Duration(p.last.Load()) }

// typeIn is a person's, or our, typing. A step that does not read is not waited for
// any longer than its terminal takes to fill.
func (p *tty) typeIn(b []byte) {
	p.stirred()
	p.master.SetWriteDeadline(time.Now().Add(time.Second)) // best effort: not every system can
	p.master.Write(b)
}

// hangUp lets go of the slave: when the step has as well, its output ends.
func (p *tty) hangUp() {
	if p != nil {
		p.slave.Close()
	}
}

// Close ends the reading side; it is the last of the terminal. What was held back as
// the beginning of a secret is shown.
func (p *tty) Close() error {
	p.showing.Lock()
	defer p.showing.Unlock()
	if p.shown != nil && !p.gone.Load() {
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
