package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Context identifies a span to other programs: a W3C trace context. The zero Context is
// none.
type Context struct {
	Trace   [16]byte
	Span    [8]byte
	Sampled bool
	State   string // tracestate, as received
}

// Parse parses the values of TRACEPARENT and TRACESTATE. It reports false for an invalid
// parent; the state is then ignored too, as the standard requires.
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

// maxState is the maximum length of a tracestate that is passed on: the standard requires
// every platform to accept it.
const maxState = 512

// unhex decodes lower-case hexadecimal digits. It reports false if they do not fill b
// exactly.
func unhex(b []byte, text string) bool {
	if len(text) != 2*len(b) || strings.ContainsAny(text, "ABCDEF") {
		return false
	}
	_, err := hex.Decode(b, []byte(text))
	return err == nil
}

// String returns the value of TRACEPARENT, "" for the zero Context.
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

// rootOf returns the span of a run that is part of a trace, or begins one.
func rootOf(run string, in history.TraceContext) Context {
	c, ok := Parse(in.Parent, in.State)
	if !ok {
		sum := sha256.Sum256([]byte(run))
		c = Context{Trace: [16]byte(sum[:16]), Sampled: true}
	}
	c.Span = spanID(run, "", "1", 0)
	return c
}

// The spans of a step that are not an attempt.
const (
	wholeStep = "" // the step itself, if it has more than one attempt
	fallback  = "fallback"
)

// spanID returns the id of an attempt of a step, or of another span of the step. It is the
// same in every process. resumed is the number of the event that resumed the run, 0 if it
// was not resumed.
func spanID(run string, path dag.ID, attempt string, resumed uint64) [8]byte {
	text := run + "\x00" + string(path) + "\x00" + attempt
	if resumed > 0 {
		text += "\x00" + strconv.FormatUint(resumed, 10)
	}
	sum := sha256.Sum256([]byte(text))
	return [8]byte(sum[:8])
}
