package console

import (
	"math"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/duration"
)

// scale converts a time to a position in a chart.
type scale struct {
	from  time.Time
	span  time.Duration
	width int // columns
}

func newScale(bars []Bar, end func(Bar) time.Time, width int) scale {
	s := scale{width: width}
	var to time.Time
	for _, b := range bars {
		if !ran(b) {
			continue
		}
		if s.from.IsZero() || b.Started.Before(s.from) {
			s.from = b.Started
		}
		to = later(to, end(b))
	}
	s.span = to.Sub(s.from)
	return s
}

// position returns the position of a time, in eighths of a column.
func (s scale) position(t time.Time) int {
	if s.span <= 0 {
		return 0
	}
	part := float64(t.Sub(s.from)) / float64(s.span)
	return int(part*float64(8*s.width) + 0.5)
}

// axisSteps are the possible distances between two marks of the axis.
var axisSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour,
}

// minMarkDistance is the minimum distance of two marks in columns.
const minMarkDistance = 8

// step returns the distance between two marks: a round time that leaves enough space. For a
// chart of years it is a number of days.
func (s scale) step() time.Duration {
	fits := func(d time.Duration) bool {
		return float64(d)*float64(s.width) >= minMarkDistance*float64(s.span)
	}
	for _, d := range axisSteps {
		if fits(d) {
			return d
		}
	}
	d := 48 * time.Hour
	for !fits(d) && d < math.MaxInt64/2 {
		d *= 2
	}
	return d
}

// axis writes the line with round times below the bars.
func (t *timeline) axis(out *strings.Builder) {
	start := t.o.Width - t.scale.width
	line := ""
	for at := time.Duration(0); 0 <= at && at <= t.scale.span; at += t.scale.step() { // at becomes negative if it exceeds the maximum Duration
		column := start + t.scale.position(t.scale.from.Add(at))/8
		mark := "|" + roundTime(at)
		switch {
		case column+len(mark) > t.o.Width:
		case line != "" && column <= len(line): // marks of years are long and may overlap
		default:
			line = pad(line, column) + mark
		}
	}
	out.WriteString(line + "\n")
}

// roundTime formats a time on the axis: 0, 500ms, 5s, 1m30s, 2h.
func roundTime(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	return duration.Text(d)
}
