package output

import (
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/logtimes"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// Times looks at the log files of a running attempt: it gives them their names once they are worth showing, and records
// when they grew. A process prints into its files itself, so there is nothing else to see. nil records nothing.
type Times struct {
	keeper  *Keeper
	step    dag.ID
	attempt int
	began   time.Time
	shows   bool // it only shows the files: what a terminal printed is divided when the step ends

	mu       sync.Mutex
	ended    bool
	files    [2]*logFile        // nil: the stream is not open
	recorder *logtimes.Recorder // nil: nothing was printed
	path     string             // of the file of the times, "" before there is one
	written  time.Duration      // when something was last added to it, from the beginning of the attempt
	looked   time.Duration
	timer    *time.Timer // nil: somebody else says when to look
}

// When the files of a running step are looked at: soon at first, then less often while nothing is printed, and often while
// something is. They are shown a little later, because most steps have ended by then.
const (
	lookSoon  = 100 * time.Millisecond
	lookLater = time.Second
	showSoon  = 200 * time.Millisecond
	writeMost = 250 * time.Millisecond // how often the file of the times grows at most
)

// NewTimes returns what looks at the files of an attempt that began then, nil if the run keeps no logs.
func (k *Keeper) NewTimes(step dag.ID, attempt int, began time.Time, shows bool) *Times {
	if k.Dir == "" {
		return nil
	}
	return &Times{keeper: k, step: step, attempt: attempt, began: began, shows: shows}
}

// Add adds a stream of the attempt.
func (p *Times) Add(st *Stream) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[st.kind] = st.file
}

// Watch looks again and again until Stop or End is called.
func (p *Times) Watch() {
	if p == nil {
		return
	}
	pause := lookSoon
	p.mu.Lock()
	defer p.mu.Unlock()
	p.timer = time.AfterFunc(pause, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.ended {
			return
		}
		pause = min(2*pause, lookLater)
		if p.look() {
			pause = p.recorder.Pause()
		}
		p.timer.Reset(pause)
	})
}

// Printed looks after flowrun itself has printed to a stream.
func (p *Times) Printed(st *Stream) {
	if p == nil {
		return
	}
	st.file.show()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended && (p.recorder == nil || time.Since(p.began)-p.looked >= p.recorder.Pause()) {
		p.look()
	}
}

// record records the states of the files. The lock is held.
func (p *Times) record(states [2]logtimes.State) (grew bool) {
	if p.shows || states[0].Size+states[1].Size == 0 && p.recorder == nil {
		return false
	}
	if p.recorder == nil {
		p.recorder = new(logtimes.Recorder)
		p.recorder.Start(p.began)
	}
	return p.recorder.Add(time.Now(), states)
}

// look records what has grown, and shows it. The lock is held.
func (p *Times) look() (grew bool) {
	p.looked = time.Since(p.began)
	states := p.states()
	grew = p.record(states)
	if p.looked < showSoon {
		return grew
	}
	for i, f := range p.files {
		if states[i].Size > 0 {
			f.show()
		}
	}
	if p.looked-p.written >= writeMost {
		p.write(false)
	}
	return grew
}

// states returns the states of the files. The lock is held.
func (p *Times) states() (list [2]logtimes.State) {
	for i, f := range p.files {
		if f != nil {
			list[i] = f.state()
		}
	}
	return list
}

// write adds what is new to the file of the times. It ignores errors: then the log has fewer times. The lock is held.
func (p *Times) write(ended bool) {
	if p.recorder == nil {
		return
	}
	var names [2]string
	for i, f := range p.files {
		if f != nil {
			names[i] = f.name()
		}
	}
	text := p.recorder.Text(names, ended)
	if len(text) == 0 {
		return
	}
	p.written = p.looked
	dir, err := p.keeper.folder()
	if err != nil {
		return
	}
	create := func(path string) error {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			p.path = path
			_, err = f.Write(text)
			f.Close()
		}
		return err
	}
	if p.path == "" {
		rundir.FirstFree(filepath.Join(dir, rundir.TimesName(p.step, p.attempt)), create)
		return
	}
	if f, err := os.OpenFile(p.path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
		f.Write(text)
		f.Close()
	}
}

// Stop ends the looking.
func (p *Times) Stop() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// End records the last states of the streams, before the names of the files are decided.
func (p *Times) End(streams [2]*Stream) {
	if p == nil {
		return
	}
	p.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	var last [2]logtimes.State
	for i, st := range streams {
		if st != nil {
			last[i] = st.state
		}
	}
	p.record(last)
}

// Settle gives the times to the outputs of the result, after the files got their names. What is too long stays in the file of
// the times.
func (p *Times) Settle(r *dag.Result) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.recorder == nil {
		return
	}
	long := false
	for i, o := range [2]*dag.Output{r.Stdout, r.Stderr} {
		if o == nil {
			continue
		}
		var more bool
		o.Times, more = p.recorder.Short(rundir.Stream(i))
		long = long || more && o.File != ""
	}
	switch {
	case long:
		p.write(true)
	case p.path != "":
		os.Remove(p.path)
	}
}
