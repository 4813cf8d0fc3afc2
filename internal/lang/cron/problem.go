package cron

import (
	"fmt"
	"strings"
)

// Problem is one thing that is wrong with a line. Off and Len are bytes in the text that was parsed.
type Problem struct {
	Off, Len int
	Field    string // "minute", "day of week" ...; empty if the problem is about the whole line
	Message  string // what is wrong, and what is allowed
	Hint     string // what to do; empty if the message says it
}

// String returns the problem on one line.
func (p Problem) String() string {
	text := p.Message
	if p.Field != "" {
		text = p.Field + ": " + text
	}
	if p.Hint != "" {
		text += "; " + p.Hint
	}
	return text
}

// Error lists everything that is wrong with one line, in the order of the text.
type Error struct {
	Text     string // the text that was parsed
	Problems []Problem
}

// Error returns all problems on one line.
func (e *Error) Error() string {
	list := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		list[i] = fmt.Sprintf("%s (at offset %d)", p, p.Off)
	}
	return "cron expression " + fmt.Sprintf("%q", e.Text) + ": " + strings.Join(list, "; and ")
}
