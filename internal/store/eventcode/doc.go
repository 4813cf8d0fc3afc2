// Package eventcode writes the events of a run in few bytes. A step takes some 50 bytes, as
// JSON 400: a journal writes every event before the run continues.
//
// One function for each structure lists its fields, for writing and for reading. Integers
// are varints. Words that occur in most events are numbers of a table. Times are the distance
// from the time before.
//
// A new field needs a flag that says whether it is there, and a new version of the history.
package eventcode

import (
	"errors"

	"github.com/flowrun/flowrun/dag"
)

// format is the first byte of the text. The format of earlier versions, JSON, begins with
// "{".
const format = 1

var errDamaged = errors.New("the events are not readable")

// Append appends events of a run to b.
func Append(b []byte, run string, events []dag.Event) []byte {
	c := coder{b: append(b, format), run: run}
	n := len(events)
	number(&c, &n)
	for i := range events {
		c.event(&events[i])
	}
	return c.b
}

// Is reports whether a text was made by Append.
func Is(b []byte) bool { return len(b) > 0 && b[0] == format }

// Decode returns the events that Append wrote, after those in list.
func Decode(list []dag.Event, run string, b []byte) ([]dag.Event, error) {
	if !Is(b) {
		return nil, errDamaged
	}
	c := coder{b: b[1:], run: run, reading: true}
	for range c.size() {
		var e dag.Event
		if c.event(&e); c.damaged {
			return nil, errDamaged
		}
		list = append(list, e)
	}
	if c.damaged || len(c.b) > 0 {
		return nil, errDamaged
	}
	return list, nil
}
