package dag

import "fmt"

// Status is the status of a node or a run. The zero value is Pending.
type Status uint8

// The statuses of a node and of a run. Their names (String) are part of every JSON document
// and never change.
const (
	Pending     Status = iota // waits for other nodes, or for a slot
	Running                   // an attempt is running
	Retrying                  // failed, waits for its next attempt
	Waiting                   // waits for a time, an answer, or something outside
	Succeeded                 // ran, exit code 0
	Reused                    // did not run: an earlier result is used
	Failed                    // ran and failed, or its condition could not be evaluated
	Skipped                   // its condition was false, or upstream-failed
	Cancelled                 // stopped or never started because of a cancel
	TimedOut                  // stopped by a timeout
	Interrupted               // was running when flowrun was killed
)

var statusWords = [...]string{"pending", "running", "retrying", "waiting", "succeeded", "reused",
	"failed", "skipped", "cancelled", "timed-out", "interrupted"}

// String returns the name of the status, such as "timed-out".
func (s Status) String() string {
	if int(s) < len(statusWords) {
		return statusWords[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// ParseStatus returns the status with that name.
func ParseStatus(word string) (Status, error) {
	for i, w := range statusWords {
		if w == word {
			return Status(i), nil
		}
	}
	return 0, fmt.Errorf("unknown state %q", word)
}

// MarshalText writes the name of the status.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name of a status.
func (s *Status) UnmarshalText(b []byte) (err error) {
	*s, err = ParseStatus(string(b))
	return err
}

// Settled reports whether the status is final.
func (s Status) Settled() bool { return s >= Succeeded }

// parked reports whether a node with this status has started and now waits without a slot.
func (s Status) parked() bool { return s == Retrying || s == Waiting }

// successful reports whether a runner that returns this status did what it was asked to do.
func (s Status) successful() bool { return s == Succeeded || s == Reused || s == Skipped }

// Executed reports whether a node with this final status has run. Only such a node can give
// a run its output.
func (s Status) Executed() bool {
	return s == Succeeded || s == Reused || s == Failed || s == TimedOut
}
