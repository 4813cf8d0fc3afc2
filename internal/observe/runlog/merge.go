package runlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/logtimes"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Merged is the log of several streams as one text: their lines in the order in which they were printed, as far as it is known
// (package logtimes). Without times, an output stands where its attempt ended, stdout first. A line stands where its beginning
// was printed, and each ends with a line break, except that the last may have none. Merged implements io.ReaderAt.
type Merged struct {
	segments []segment
	size     int64
	settled  int // how many segments have their final place; later ones may still move
	lines    *LineIndex
	opened   map[*source]*openPiece
}

// Selection says which streams are merged.
type Selection struct {
	Steps   func(dag.ID) bool // nil: all
	Loops   bool              // with what loops have put out themselves, which is the output of their items
	Attempt int               // 0: all
	Stream  rundir.Stream     // only this one, if One is set
	One     bool
	Live    bool      // the run has not ended
	Since   time.Time // leave out steps that ended before
}

// Origin is where a line comes from.
type Origin struct {
	Step    dag.ID
	Attempt int
	Stream  rundir.Stream
	Time    time.Time // when it was printed; zero if that is not known
}

// source is a stream that was merged.
type source struct {
	piece
	place
	size  int64
	marks []logtimes.Mark
}

// segment is a part of a source: whole lines that have the same time.
type segment struct {
	source   *source
	from, to int64
	at       int64 // where it begins in the merged text
	ended    bool  // a line break is added
	time     int64 // ms since 1970; 0: it is not known
	order    int64 // the time by which segments are sorted
}

// unsettled is how long it may take until everything that was printed before a moment is known.
const unsettled = 3 * time.Second

// last is the order of what may still move.
const last = math.MaxInt64

// Merge merges the logs of a run. x, which may be nil, remembers what was found out about logs that were merged before.
func (r *Run) Merge(sel Selection, x *MergedIndex) (*Merged, error) {
	if x == nil {
		x = new(MergedIndex)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	m := &Merged{opened: map[*source]*openPiece{}}
	for _, path := range r.order {
		e := r.steps[path]
		switch result := e.last(); {
		case e.loop && !sel.Loops, sel.Steps != nil && !sel.Steps(path):
			continue
		case result != nil && e.finished && result.Ended.Before(sel.Since):
			continue
		}
		if err := m.addStep(r, path, sel, x); err != nil {
			m.Close()
			return nil, err
		}
	}
	slices.SortStableFunc(m.segments, func(a, b segment) int { return cmp.Compare(a.order, b.order) })
	m.settled = len(m.segments)
	if sel.Live {
		horizon := time.Now().Add(-unsettled).UnixMilli()
		m.settled = sort.Search(len(m.segments), func(i int) bool { return m.segments[i].order > horizon })
	}
	if err := m.layOut(); err != nil {
		m.Close()
		return nil, err
	}
	m.lines = x.linesOf(m.segments)
	return m, nil
}

// addStep adds the streams of a step.
func (m *Merged) addStep(r *Run, path dag.ID, sel Selection, x *MergedIndex) error {
	pieces, err := r.steps[path].pieces(r.files.Of(path), hasInner(r.plan, path))
	if err != nil {
		return err
	}
	places := placesOf(path, pieces)
	var marks map[string][]logtimes.Mark
	for i, p := range pieces {
		if sel.Attempt != 0 && p.attempt != sel.Attempt || sel.One && p.stream != sel.Stream {
			continue
		}
		s := &source{piece: p, place: places[i]}
		if s.marks = ofStream(p.times, p.stream); s.marks == nil && p.file != "" {
			if marks == nil {
				marks = readTimes(r.files.Times(path))
			}
			s.marks = marks[filepath.Base(p.file)]
		}
		if err := m.addSource(s, x); err != nil {
			return err
		}
	}
	return nil
}

// ofStream returns the marks of a stream in a text.
func ofStream(text string, s rundir.Stream) []logtimes.Mark {
	list, _ := logtimes.Parse([]byte(text))
	return slices.DeleteFunc(list, func(m logtimes.Mark) bool { return m.Stream != s })
}

// readTimes reads files with times, by the name of the log file. One that cannot be read has none: then the log is shown
// without.
func readTimes(files []string) map[string][]logtimes.Mark {
	all := map[string][]logtimes.Mark{}
	for _, file := range files {
		text, err := ownership.ReadFile(file)
		if err != nil {
			continue
		}
		marks, names := logtimes.Parse(text)
		for _, mark := range marks {
			if name := names[mark.Stream]; name != "" {
				all[name] = append(all[name], mark)
			}
		}
	}
	return all
}

// addSource divides a source into segments.
func (m *Merged) addSource(s *source, x *MergedIndex) error {
	o, err := s.open()
	if err != nil {
		return err
	}
	if len(m.opened) < maxOpen {
		m.opened[s] = o
	} else {
		defer o.Close()
	}
	s.size = o.size
	bounds, err := x.bounds(s, o)
	if err != nil {
		return err
	}
	from, latest := int64(0), int64(0)
	add := func(to, time, order int64) {
		latest = max(latest, order) // the order within a stream is certain
		if to > from {
			m.segments = append(m.segments, segment{source: s, from: from, to: to, time: time, order: latest})
			from = to
		}
	}
	for i, bound := range bounds {
		add(bound, s.marks[i].At, s.marks[i].At)
	}
	switch at := s.at.UnixMilli(); {
	case s.age == current:
		add(s.size, 0, last)
	case s.quick && len(s.marks) == 0:
		add(s.size, at, at)
	default:
		add(s.size, 0, at)
	}
	return nil
}

// layOut gives the segments their places in the text.
func (m *Merged) layOut() error {
	for i := range m.segments {
		s := &m.segments[i]
		s.at = m.size
		m.size += s.to - s.from
		if i == len(m.segments)-1 || s.to < s.source.size { // only the end of a stream may have no line break
			continue
		}
		end := make([]byte, 1)
		if _, err := m.read(s.source, end, s.to-1); err != nil {
			return err
		}
		if s.ended = end[0] != '\n'; s.ended {
			m.size++
		}
	}
	return nil
}

// Size returns the size of the text.
func (m *Merged) Size() int64 { return m.size }

// Settled returns the size of the part of the text that does not change any more.
func (m *Merged) Settled() int64 {
	if m.settled == len(m.segments) {
		return m.size
	}
	return m.segments[m.settled].at
}

// Origin returns where the line at an offset of the text comes from.
func (m *Merged) Origin(at int64) Origin {
	i := m.find(at)
	if i < 0 {
		return Origin{}
	}
	return m.segments[i].origin()
}

func (s *segment) origin() Origin {
	o := Origin{Step: s.source.step, Attempt: s.source.place.attempt, Stream: s.source.place.stream}
	if s.time != 0 {
		o.Time = time.UnixMilli(s.time).UTC()
	}
	return o
}

// find returns the segment at an offset.
func (m *Merged) find(at int64) int {
	return sort.Search(len(m.segments), func(i int) bool { return m.segments[i].at > at }) - 1
}

// ReadAt implements io.ReaderAt.
func (m *Merged) ReadAt(b []byte, at int64) (n int, err error) {
	for i := max(m.find(at), 0); i < len(m.segments) && n < len(b); i++ {
		s := &m.segments[i]
		skip, length := at+int64(n)-s.at, s.to-s.from
		if skip < length {
			part := b[n:min(int64(len(b)), int64(n)+length-skip)]
			got, err := m.read(s.source, part, s.from+skip)
			if n += got; err != nil {
				return n, err
			}
		}
		if s.ended && n < len(b) && at+int64(n) == s.at+length {
			b[n] = '\n'
			n++
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// maxOpen is how many log files a Merged keeps open.
const maxOpen = 16

// read reads a part of a source that was there when the streams were merged.
func (m *Merged) read(s *source, b []byte, at int64) (int, error) {
	o := m.opened[s]
	if o == nil {
		var err error
		if o, err = s.open(); err != nil {
			return 0, err
		}
		if len(m.opened) >= maxOpen {
			m.Close()
		}
		m.opened[s] = o
	}
	n, err := o.ReadAt(b, at)
	switch {
	case n == len(b):
		return n, nil
	case err == nil || err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return n, fmt.Errorf("cannot read a log: %w", err)
}

// Close closes the log files.
func (m *Merged) Close() {
	for _, o := range m.opened {
		o.Close()
	}
	clear(m.opened)
}

// ReadPage is ReadPage of the text. settled is how many lines have their final place: read the others again.
func (m *Merged) ReadPage(ctx context.Context, from int64, limit int) (p *Page, settled int64, err error) {
	if p, err = ReadPage(ctx, m, m.size, m.lines, from, limit); err != nil {
		return nil, 0, err
	}
	settled = p.Total
	if p.Open && m.Settled() < m.size {
		settled--
	}
	buf := make([]byte, 64<<10)
	for at := m.Settled(); at < m.size; {
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
		n, err := m.ReadAt(buf[:min(int64(len(buf)), m.size-at)], at)
		if n == 0 {
			return nil, 0, err
		}
		settled -= int64(bytes.Count(buf[:n], []byte("\n")))
		at += int64(n)
	}
	return p, settled, nil
}

// Search is Search of the text.
func (m *Merged) Search(ctx context.Context, text string, from int64, limit int) (found []Match, next int64, err error) {
	return Search(ctx, m, m.size, m.lines, text, from, limit)
}
