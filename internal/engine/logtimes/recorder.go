package logtimes

import (
	"time"

	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// State is what a log file is at some moment.
type State struct {
	Size    int64
	Changed time.Time // when it was last written
}

// Limits of a Recorder.
const (
	window    = 100 // ms; what one stream printed within this time can have one mark
	fine      = 10_000
	coarse    = 100_000
	shortText = 512 // bytes that a result may hold of one stream
)

// Recorder makes the marks of one attempt. The zero value is ready for use. It is not safe for concurrent use.
type Recorder struct {
	started int64 // ms since 1970
	looked  int64 // when the states were last seen
	size    [2]int64
	open    Mark  // the last mark, to which its stream can still add; zero: none
	first   int64 // when the open mark began
	at      int64 // time of the last mark that is closed
	marks   int   // that are closed
	damaged bool  // a file has become smaller

	pending []Mark // closed and not in the file yet
	file    encoder
	named   [2]bool

	short   [2][]byte // the text of the marks of each stream, nil if it is too long
	long    [2]bool
	shorts  [2]encoder
	begin   int64 // time of the first mark
	swapped bool  // stdout has a mark after one of stderr
	stderr  bool  // stderr has one
}

// Start notes that the attempt starts.
func (r *Recorder) Start(now time.Time) {
	r.started = now.UnixMilli()
	r.looked = r.started
}

// Add notes the states of both log files, and reports whether one of them has grown.
func (r *Recorder) Add(now time.Time, states [2]State) (grew bool) {
	var at [2]int64
	for i, s := range states {
		r.damaged = r.damaged || s.Size < r.size[i]
		at[i] = min(max(s.Changed.UnixMilli(), r.looked), now.UnixMilli()) // other clocks set the time of a file on a network
	}
	order := [2]rundir.Stream{rundir.Stdout, rundir.Stderr}
	if at[rundir.Stderr] < at[rundir.Stdout] {
		order = [2]rundir.Stream{rundir.Stderr, rundir.Stdout}
	}
	for _, s := range order {
		if states[s].Size > r.size[s] && !r.damaged {
			r.size[s], grew = states[s].Size, true
			r.grow(s, at[s])
		}
	}
	r.looked = max(r.looked, now.UnixMilli())
	return grew
}

func (r *Recorder) grow(s rundir.Stream, at int64) {
	if r.open.At > 0 && r.open.Stream == s && at-r.first < window {
		r.open.At, r.open.Size = max(r.open.At, at), r.size[s]
		return
	}
	r.close()
	at = max(at, r.at+1)
	r.open, r.first = Mark{at, s, r.size[s]}, at
}

// close ends the open mark.
func (r *Recorder) close() {
	m := r.open
	if m.At == 0 {
		return
	}
	r.open = Mark{}
	r.pending = append(r.pending, m)
	if !r.long[m.Stream] {
		r.short[m.Stream] = r.shorts[m.Stream].append(r.short[m.Stream], m)
		if len(r.short[m.Stream]) > shortText {
			r.short[m.Stream], r.long[m.Stream] = nil, true
		}
	}
	if r.marks == 0 {
		r.begin = m.At
	}
	r.at = m.At
	r.marks++
	r.swapped = r.swapped || m.Stream == rundir.Stdout && r.stderr
	r.stderr = r.stderr || m.Stream == rundir.Stderr
}

// Pause returns how long to wait before the files are looked at again while they grow: the more marks there are, the longer.
// An attempt that prints without end has 10,000 marks after some 15 minutes, 100,000 after a day, and then one a minute.
func (r *Recorder) Pause() time.Duration {
	switch {
	case r.marks < fine:
		return 20 * time.Millisecond
	case r.marks < coarse:
		return time.Second
	}
	return time.Minute
}

// Text returns what to append to the file of the marks: those that are new. files are the names of the log files. A stream
// that has marks and no name yet holds all of them back, unless the attempt has ended.
func (r *Recorder) Text(files [2]string, ended bool) (text []byte) {
	r.close()
	if r.damaged || len(r.pending) == 0 {
		return nil
	}
	for _, m := range r.pending {
		if files[m.Stream] == "" && !ended {
			return nil
		}
	}
	for _, m := range r.pending {
		if s := m.Stream; !r.named[s] && files[s] != "" {
			r.named[s] = true
			text = appendName(text, s, files[s])
		}
		text = r.file.append(text, m)
	}
	r.pending = r.pending[:0]
	return text
}

// Short returns the marks of one stream as a text for its result. long reports that they are too many; then the file of the
// marks is needed. It is "" without being long if the marks say nothing: the attempt was quick and printed just before its
// end, stdout first; see Quick. The attempt has ended.
func (r *Recorder) Short(s rundir.Stream) (text string, long bool) {
	r.close()
	quick := r.looked-r.started <= 500 && r.begin >= r.looked-window && !r.swapped
	if r.damaged || quick {
		return "", false
	}
	return string(r.short[s]), r.long[s]
}

// Quick is how long an attempt can last whose output without marks has the time of its end. It is longer than the limit of a
// Recorder, because those who read a run know the times of its events only.
const Quick = 2 * time.Second
