package past

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// lineTime is the form of times before lines: RFC 3339 with milliseconds, UTC, always of the same width.
const lineTime = "2006-01-02T15:04:05.000Z"

// logLine is a line of flowrun logs -o jsonl.
type logLine struct {
	Schema  string     `json:"schema"`
	Time    *time.Time `json:"time,omitempty"` // absent if it is not known
	Step    string     `json:"step"`
	Attempt int        `json:"attempt"`
	Stream  string     `json:"stream"`
	Text    string     `json:"text"`
}

// line prints one line of the merged log.
func (l *logs) line(o runlog.Origin, text []byte) error {
	if l.pattern != nil && !l.pattern.Match(text) {
		return nil
	}
	if l.encoder != nil {
		return l.encoder.Encode(lineOf(o, text))
	}
	w, at := l.printer(o.Stream, o.Step, o.Attempt), ""
	switch {
	case l.times && o.Time.IsZero():
		at = fmt.Sprintf("%-*s ", len(lineTime), "-")
	case l.times:
		at = o.Time.Format(lineTime) + " "
	}
	_, err := fmt.Fprintf(w, "%s%s\n", at, text)
	return err
}

func lineOf(o runlog.Origin, text []byte) logLine {
	line := logLine{Schema: "flowrun/log-line.v1", Step: string(o.Step), Attempt: o.Attempt, Stream: "stdout", Text: string(text)}
	if o.Stream == rundir.Stderr {
		line.Stream = "stderr"
	}
	if !o.Time.IsZero() {
		line.Time = &o.Time
	}
	return line
}
