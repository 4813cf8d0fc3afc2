package terminal

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/place"
)

// TTY is the terminal of an interactive step. The step has the slave; this process has the master,
// from which it reads the output. It also keeps the slave open, to check whether what was typed has
// been read.
type TTY struct {
	master, slave *os.File
	heldCR        bool // a carriage return was held back, because a newline may follow
	answers       answers
	AnswerEnd     int // offset in what Read returned where the last answer ends; -1 if none ends there
	start         time.Time
	lastActivity  atomic.Int64 // when something was printed or typed, relative to start

	handling   atomic.Bool  // what was read is being shown, or given to who called Read
	showLock   sync.Mutex   // held during a write to the person, which may take long
	shown      *mask.Writer // output for the person; nil: there is none
	person     io.Writer
	notice     atomic.Pointer[string] // of flowrun, to be shown before what the step prints next
	personGone atomic.Bool            // the person no longer has this terminal
}

// newTTY makes a terminal. If a person uses it, it echoes what is typed and converts line ends as
// usual. Otherwise it does neither, so that the output looks as if the step had no terminal.
func newTTY(person io.Writer, secrets *mask.Mask) (*TTY, error) {
	master, slave, err := openPty(person != nil)
	if err != nil {
		return nil, place.CannotStart(126, "cannot create a terminal for an interactive step: %v", err)
	}
	p := &TTY{master: master, slave: slave, start: time.Now(), person: person}
	if person != nil {
		p.shown = secrets.Writer(person)
	}
	p.resize(usualSize)
	return p, nil
}

// Read returns what the step prints, with \n as line end. Only one goroutine may call it. When all
// slaves are closed it returns an error of the system.
func (p *TTY) Read(b []byte) (int, error) {
	from := 0
	if p.heldCR {
		b[0], from = '\r', 1
	}
	p.handling.Store(false)
	n, err := p.master.Read(b[from:])
	p.handling.Store(true)
	all := b[:from+n]
	end := p.answers.end(all[from:]) // before it is shown, because what follows may be an answer to it
	if end >= 0 {
		end += from
	}
	p.show(all[from:])
	p.heldCR = err == nil && all[len(all)-1] == '\r'
	if p.heldCR {
		all = all[:len(all)-1]
	}
	to := 0
	p.AnswerEnd = -1
	for i, c := range all {
		if i == end {
			p.AnswerEnd = to
		}
		if c == '\r' && i+1 < len(all) && all[i+1] == '\n' {
			continue
		}
		b[to] = c
		to++
	}
	if end == len(all) {
		p.AnswerEnd = to
	}
	return to, err
}

// show shows the person what was printed.
func (p *TTY) show(b []byte) {
	p.showNotice()
	if len(b) == 0 {
		return
	}
	p.noteActivity()
	p.showLock.Lock()
	defer p.showLock.Unlock()
	if p.shown != nil && !p.personGone.Load() {
		p.shown.Write(b) // ignore errors: the person can still read the log
	}
}

// AnswerOpen reports whether an answer was typed after which nothing was printed.
func (p *TTY) AnswerOpen() bool { return p.answers.open() }

// Lags reports whether this process has not read everything that was printed, or not shown it.
func (p *TTY) Lags() bool { return p.handling.Load() || Readable(p.master) }

// printNotice shows the person a text of flowrun, at the latest before what the step prints next. It does not wait for the
// terminal, which may be slow.
func (p *TTY) printNotice(text string) {
	p.notice.Store(&text)
	go p.showNotice()
}

func (p *TTY) showNotice() {
	p.showLock.Lock()
	defer p.showLock.Unlock()
	if text := p.notice.Swap(nil); text != nil && p.person != nil && !p.personGone.Load() {
		io.WriteString(p.person, "\r\n"+*text+"\r\n")
	}
}

// detachPerson makes sure that nothing more is shown to the person. It does not wait.
func (p *TTY) detachPerson() {
	if p != nil {
		p.personGone.Store(true)
	}
}

// noteActivity records that something was printed or typed.
func (p *TTY) noteActivity() { p.lastActivity.Store(int64(time.Since(p.start))) }

// silence returns how long nothing was printed or typed.
func (p *TTY) silence() time.Duration {
	return time.Since(p.start) - time.Duration(p.lastActivity.Load())
}

// typeIn types text into the terminal. If the step does not read and the terminal's buffer is full,
// typeIn drops the rest after a second.
func (p *TTY) typeIn(b []byte) {
	p.noteActivity()
	canonical, echo := p.inputModes()
	p.answers.typed(b, canonical, echo)
	p.master.SetWriteDeadline(time.Now().Add(time.Second)) // best effort: some systems have no such deadline
	p.master.Write(b)
}

// closeSlave closes the slave here. The output ends when the step has closed it, too.
func (p *TTY) closeSlave() {
	if p != nil {
		p.slave.Close()
	}
}

// Close closes the master. First it shows what was held back as the possible start of a secret.
func (p *TTY) Close() error {
	p.showLock.Lock()
	defer p.showLock.Unlock()
	if p.shown != nil && !p.personGone.Load() {
		p.shown.Flush()
	}
	return p.master.Close()
}

// SetReadDeadline ends a Read. If the system has no deadlines for terminals, it closes the master;
// then Read ends with the last process that has the terminal open.
func (p *TTY) SetReadDeadline(t time.Time) error {
	if p.master.SetReadDeadline(t) == nil {
		return nil
	}
	return p.master.Close()
}
