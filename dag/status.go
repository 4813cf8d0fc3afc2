package dag

import "fmt"

// Status is where a node stands. The zero value is Pending.
type Status uint8

// The states of a node and of a run. The words (String) are part of every JSON
// document and never change.
const (
	Pending     Status = iota // waits for others, or for a slot
	Running                   // a try is under way
	Retrying                  // failed, waits for its next try
	Waiting                   // waits for a person or an outside event
	Succeeded                 // ran, exit code 0
	Reused                    // not run: an earlier result stands
	Failed                    // ran and failed, or could not be decided
	Skipped                   // its condition was false, or upstream-failed
	Cancelled                 // stopped or never started because of a cancel
	TimedOut                  // stopped by a timeout
	Interrupted               // was running when the engine died
)

var statusWords = [...]string{"pending", "running", "retrying", "waiting", "succeeded", "reused",
	"failed", "skipped", "cancelled", "timed-out", "interrupted"}

// String is the state's word, as in "timed-out".
func (s Status) String() string {
	if int(s) < len(statusWords) {
		return statusWords[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// ParseStatus is the state with that word.
func ParseStatus(word string) (Status, error) {
	for i, w := range statusWords {
		if w == word {
			return Status(i), nil
		}
	}
	return 0, fmt.Errorf("unknown state %q", word)
}

// MarshalText writes the state's word.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a state's word.
func (s *Status) UnmarshalText(b []byte) (err error) {
	*s, err = ParseStatus(string(b))
	return err
}

// Settled says whether the state is an end state.
func (s Status) Settled() bool { return s >= Succeeded }

// parked says whether a node in this state has begun and leaves its place to others.
func (s Status) parked() bool { return s == Retrying || s == Waiting }

// successful says whether a runner that answers this state did what it was asked for.
func (s Status) successful() bool { return s == Succeeded || s == Reused || s == Skipped }

// Executed says whether a node in this end state has run: only such nodes can
// give a run its output.
func (s Status) Executed() bool {
	return s == Succeeded || s == Reused || s == Failed || s == TimedOut
}
