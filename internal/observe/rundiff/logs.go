package rundiff

import (
	"bufio"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// LogChange is the first line of a stream that differs. A line is nil after the end of that log; of long lines only a
// part with the difference is there. Secrets are masked in logs.
type LogChange struct {
	Stream string  `json:"stream"` // stdout or stderr
	Line   int     `json:"line"`   // its number, from 1
	Before *string `json:"before,omitempty"`
	After  *string `json:"after,omitempty"`
}

// maxCompared is how many bytes of logs are read for one comparison.
const maxCompared = 64 << 20

// stepLogs are the logs of the steps of a run.
type stepLogs struct {
	run     *engine.RecordedRun
	logs    *runlog.Run
	holders map[dag.ID]bool // loops, whose output is that of their items
}

func readLogs(stateDir string, run *engine.RecordedRun) (*stepLogs, error) {
	logs, err := runlog.ReadRun(rundir.LogFolder(stateDir, run.Record.ID), run.Plan, run.Events)
	if err != nil {
		return nil, err
	}
	l := &stepLogs{run: run, logs: logs, holders: map[dag.ID]bool{}}
	for _, e := range run.Events {
		if e.Kind == dag.StepExpanded {
			l.holders[e.Node] = true
		}
	}
	return l, nil
}

// last returns the logs of the last attempt of a step, by stream. An attempt that printed nothing has none.
func (l *stepLogs) last(step dag.ID, attempts int) (streams map[rundir.Stream]runlog.Part, err error) {
	if l.holders[step] || l.run.Plan.Nested(string(step)) != nil {
		return nil, nil
	}
	parts, _, err := l.logs.Parts(step)
	if err != nil {
		return nil, err
	}
	streams = map[rundir.Stream]runlog.Part{}
	for _, p := range parts {
		attempts = max(attempts, p.Attempt)
	}
	for _, p := range parts {
		if p.Attempt == attempts {
			streams[p.Stream] = p
		}
	}
	return streams, nil
}

// compareLogs adds to the steps that ran in both runs what differs first in their logs.
func (d *Diff) compareLogs(stateDir string, before, after *engine.RecordedRun) error {
	old, err := readLogs(stateDir, before)
	if err != nil {
		return err
	}
	new, err := readLogs(stateDir, after)
	if err != nil {
		return err
	}
	c := newComparison(maxCompared)
	for i := range d.Steps {
		s := &d.Steps[i]
		if !s.Before.started() || !s.After.started() {
			continue
		}
		was, err := old.last(dag.ID(s.ID), s.Before.Attempts)
		if err != nil {
			return err
		}
		is, err := new.last(dag.ID(s.ID), s.After.Attempts)
		if err != nil {
			return err
		}
		for _, stream := range []struct {
			of   rundir.Stream
			name string
		}{{rundir.Stdout, "stdout"}, {rundir.Stderr, "stderr"}} {
			change, err := c.parts(was[stream.of], is[stream.of])
			if err != nil {
				return err
			}
			if change != nil {
				change.Stream = stream.name
				s.Logs = append(s.Logs, *change)
			}
		}
	}
	d.LogsCut = c.cut
	return nil
}

// comparison compares logs, one pair after another, until it has read enough.
type comparison struct {
	was, is *bufio.Reader
	left    int64 // how many bytes it may still read
	cut     bool  // a log was not compared to its end
}

func newComparison(most int64) *comparison {
	return &comparison{was: bufio.NewReaderSize(nil, maxPart), is: bufio.NewReaderSize(nil, maxPart), left: most}
}

// parts returns the first difference of two logs, nil if there is none. A Part without anything is an empty log.
func (c *comparison) parts(before, after runlog.Part) (*LogChange, error) {
	was, err := before.Open()
	if err != nil {
		return nil, err
	}
	defer was.Close()
	is, err := after.Open()
	if err != nil {
		return nil, err
	}
	defer is.Close()
	return c.texts(io.NewSectionReader(was, 0, was.Size()), io.NewSectionReader(is, 0, is.Size()))
}

// texts returns the first difference of two texts, nil if there is none or if enough was read.
func (c *comparison) texts(before, after io.Reader) (*LogChange, error) {
	c.was.Reset(before)
	c.is.Reset(after)
	for line := 1; ; {
		if c.left <= 0 {
			c.cut = true
			return nil, nil
		}
		b, more, errB := c.was.ReadLine()
		a, _, errA := c.is.ReadLine()
		c.left -= int64(len(b) + len(a) + 2)
		switch {
		case errB != nil && errB != io.EOF:
			return nil, errB
		case errA != nil && errA != io.EOF:
			return nil, errA
		case errB == io.EOF && errA == io.EOF:
			return nil, nil
		case errB == io.EOF:
			return &LogChange{Line: line, After: shown(string(a), 0)}, nil
		case errA == io.EOF:
			return &LogChange{Line: line, Before: shown(string(b), 0)}, nil
		case string(b) != string(a):
			at := commonPrefix(string(b), string(a))
			return &LogChange{Line: line, Before: shown(string(b), at), After: shown(string(a), at)}, nil
		}
		if !more {
			line++
		}
	}
}

const (
	maxPart  = 64 << 10 // of a line that is compared at once
	maxShown = 400      // bytes of a line
	around   = 100      // bytes of a long line before the difference
)

// shown returns the part of a line that has the difference, which is at that byte.
func shown(line string, at int) *string {
	from := 0
	if at > maxShown-around {
		from = at - around
	}
	text := value.UpTo(maxShown, line[from:])
	if from > 0 {
		text = "..." + text
	}
	if from+maxShown < len(line) {
		text += "..."
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	return &text
}

// commonPrefix returns the length of the longest beginning that two texts share.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
