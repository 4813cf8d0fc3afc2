package jsrun

import (
	"encoding/json"

	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Kind classifies an Error.
type Kind = jsworld.Kind

// The kinds.
const (
	KindThrown  = jsworld.KindThrown  // the script threw something
	KindTimeout = jsworld.KindTimeout // it exceeded its time limit
	KindMemory  = jsworld.KindMemory  // it exceeded its memory limit
	KindResult  = jsworld.KindResult  // its result cannot be written as JSON
	KindLost    = jsworld.KindLost    // the child process ended for another reason

	// KindParameters is the kind of a tool whose validate rejected the parameters.
	KindParameters = jsworld.KindParameters
)

// Limits for what a script returns, in bytes.
const (
	MaxResult  = jsworld.MaxResult
	MaxMessage = jsworld.MaxMessage
)

// Error is an error of a script. It contains text from the script, which may include secrets.
type Error struct {
	Kind     Kind
	Name     string   // name of the thrown Error, such as TypeError; "" if another value was thrown
	Message  string   // at most MaxMessage bytes
	Pos      tool.Pos // in the author's file; zero if not known
	Business *tool.BusinessError
	Value    json.RawMessage // the {success: false} that the tool returned; nil if it threw
}

// Error returns the message after the code of the business error, or after the name of the thrown Error.
func (e *Error) Error() string {
	if e.Business != nil && e.Business.Code != CodeReported {
		return e.Business.Code + ": " + e.Message
	}
	if e.Name != "" {
		return e.Name + ": " + e.Message
	}
	return e.Message
}

// error converts a failure to an Error with a position in the author's file.
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
