package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// Context is a span as others know it: W3C's trace context. The zero Context is none.
type Context struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
	State   string // tracestate, as it came in
}

// Parse reads the values of TRACEPARENT and TRACESTATE. What is not valid is no context,
// as the standard wants it, and then the state counts for nothing either.
func Parse(parent, state string) (c Context, ok bool) {
	parts := strings.Split(strings.TrimSpace(parent), "-")
	if len(parts) < 4 || parts[0] == "00" && len(parts) != 4 || parts[0] == "ff" {
		return Context{}, false
	}
	var version, flags [1]byte
	if !unhex(version[:], parts[0]) || !unhex(c.Trace[:], parts[1]) || !unhex(c.Span[:], parts[2]) || !unhex(flags[:], parts[3]) ||
		c.Trace == [16]byte{} || c.Span == [8]byte{} {
		return Context{}, false
	}
	c.Sampled = flags[0]&1 != 0
	if len(state) <= maxState && !strings.ContainsAny(state, "\r\n\x00") {
		c.State = state
	}
	return c, true
}

// maxState is how long a tracestate may be that is passed on: what every platform has
// to take.
const maxState = 512

// unhex reads lower-case hexadecimal digits that fill b.
func unhex(b []byte, text string) bool {
	if len(text) != 2*len(b) || strings.ContainsAny(text, "ABCDEF") {
		return false
	}
	_, err := hex.Decode(b, []byte(text))
	return err == nil
}

// String is the value of a TRACEPARENT, "" for none.
func (c Context) String() string {
	if c.Trace == [16]byte{} {
		return ""
	}
	flags := "-00"
	if c.Sampled {
		flags = "-01"
	}
	return "00-" + hex.EncodeToString(c.Trace[:]) + "-" + hex.EncodeToString(c.Span[:]) + flags
}

// Root is the span of a run, with what its record says of its parent ("" for none).
func Root(run, parent, state string) Context {
	c, ok := Parse(parent, state)
	if !ok {
		sum := sha256.Sum256([]byte(run))
		c = Context{Trace: [16]byte(sum[:16]), Sampled: true}
	}
	c.Span = spanID(run, "", "1", 0)
	return c
}

// The spans of a step that are no try.
const (
	whole    = "" // the step, where it has more than one try
	fallback = "fallback"
)

// spanID is the id of a try of a step (or of what else there is of it), the same in
// every process. resumed is the number of the event since which it runs, 0 for the
// beginning of the run.
func spanID(run string, path dag.ID, try string, resumed uint64) [8]byte {
	text := run + "\x00" + string(path) + "\x00" + try
	if resumed > 0 {
		text += "\x00" + strconv.FormatUint(resumed, 10)
	}
	sum := sha256.Sum256([]byte(text))
	return [8]byte(sum[:8])
}
