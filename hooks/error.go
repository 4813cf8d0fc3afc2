package hooks

import (
	"github.com/flowrun/flowrun/internal/jsworld"
	"github.com/flowrun/flowrun/tool"
)

// Kind of an Error.
type Kind = jsworld.Kind

// The kinds.
const (
	KindThrown  = jsworld.KindThrown  // the script threw something
	KindTimeout = jsworld.KindTimeout // it ran longer than it may
	KindMemory  = jsworld.KindMemory  // it took more memory than it may
	KindResult  = jsworld.KindResult  // what it returned is no JSON
	KindLost    = jsworld.KindLost    // the child died for another reason
)

// What a script may hand back at most, in bytes.
const (
	MaxResult  = jsworld.MaxResult
	MaxMessage = jsworld.MaxMessage
)

// Error is what a script did wrong. It holds texts of the script, which may be secret.
type Error struct {
	Kind     Kind
	Name     string   // of what was thrown: TypeError; "" where it was no Error
	Message  string   // at most MaxMessage bytes
	Pos      tool.Pos // in the author's file; zero where it is not known
	Business *tool.BusinessError
}

func (e *Error) Error() string {
	if e.Name != "" {
		return e.Name + ": " + e.Message
	}
	return e.Message
}

// error is the failure with its place in the author's file.
func (s *Script) error(f *jsworld.Failure) *Error {
	e := &Error{Kind: f.Kind, Name: f.Name, Message: f.Message}
	switch {
	case f.Off != nil:
		e.Pos = s.text.At(*f.Off)
	case f.Pos != nil:
		e.Pos = *f.Pos
	}
	return e
}
