package runlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/flowrun/flowrun/dag"
)

// maxWholeLine is how many bytes of a line CopyLines passes on at once. A longer line becomes several.
const maxWholeLine = 1 << 20

// CopyLines passes on the lines of all steps that are new since the call before, in the order in which they were printed.
// events are all events of the run so far. While the run is live, it holds back what was printed just now, because something
// may belong before it. The text of a line is without its end, and valid until to returns.
func (r *Reader) CopyLines(events []dag.Event, live bool, to func(o Origin, line []byte) error) error {
	run, err := ReadRun(r.dir, r.plan, events)
	if err != nil {
		return err
	}
	m, err := run.Merge(Selection{Steps: func(id dag.ID) bool { return r.Wants(string(id)) }, Attempt: r.Attempt, Live: live, Since: r.Since}, &r.index)
	if err != nil {
		return err
	}
	defer m.Close()
	for i := range m.segments[:m.settled] {
		s := &m.segments[i]
		if done := r.offsets[s.source.place]; done >= s.to {
			continue
		} else if done > s.from { // it was in another segment then
			skipped := *s
			skipped.from, skipped.at = done, s.at+done-s.from
			s = &skipped
		}
		if err := m.copySegment(s, to); err != nil {
			return err
		}
		r.offsets[s.source.place] = s.to
	}
	return nil
}

// copySegment passes on the lines of a segment.
func (m *Merged) copySegment(s *segment, to func(Origin, []byte) error) error {
	in, origin := bufio.NewReaderSize(io.NewSectionReader(m, s.at, s.to-s.from), 64<<10), s.origin()
	var long []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) && len(long)+len(line) < maxWholeLine {
			long = append(long, line...)
			continue
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		if len(long) > 0 {
			line = append(long, line...)
			long = long[:0]
		}
		if len(line) > 0 {
			if err := to(origin, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}
