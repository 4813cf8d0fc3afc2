package attention

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Item is a state that needs a person. Only the fields that apply to it are set.
type Item struct {
	Kind     string    `json:"kind"`
	Tool     string    `json:"tool,omitempty"` // "" if it concerns the machine as a whole
	Run      string    `json:"run,omitempty"`
	Schedule string    `json:"schedule,omitempty"` // its id
	Step     string    `json:"step,omitempty"`     // path of the step
	Reason   string    `json:"reason"`             // for people, on one line
	Since    time.Time `json:"since,omitzero"`     // zero if that is not known
	Do       string    `json:"do"`                 // the command that a person types

	occasion string // distinguishes items whose Since is not known; "" if they are one
}

// Key identifies the item in every process and at every time: a run that is interrupted once more is another item.
func (i Item) Key() string {
	text := i.Kind
	for _, part := range []struct{ name, value string }{{"tool", i.Tool}, {"schedule", i.Schedule}, {"step", i.Step}} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	if !i.Since.IsZero() {
		text += ", since " + i.Since.UTC().Format(time.RFC3339Nano)
	}
	if i.occasion != "" {
		text += ", " + i.occasion
	}
	return text
}

// Headline says in a few words what is the matter.
func (i Item) Headline() string {
	switch i.Kind {
	case Interrupted:
		return i.Tool + " is interrupted"
	case Waiting:
		return i.Tool + " is waiting for an answer"
	}
	return cmp.Or(i.Tool, "this machine") + " needs attention"
}

// What describes the item in one line: what is the matter, and why.
func (i Item) What() string {
	text := i.Headline() + ": " + i.Reason
	if i.Run != "" {
		text += fmt.Sprintf(" (run %s)", i.Run)
	}
	return text
}

// Text is What with the command that a person types.
func (i Item) Text() string { return i.What() + "; next: " + i.Do }

// oneLine writes a text of several lines, or one with tabs, on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
