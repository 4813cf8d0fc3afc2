package hooks

import "github.com/flowrun/flowrun/tool"

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
func (s *Script) error(f *failure) *Error {
	e := &Error{Kind: f.Kind, Name: f.Name, Message: f.Message}
	switch {
	case f.Off != nil:
		e.Pos = s.text.At(*f.Off)
	case f.Pos != nil:
		e.Pos = *f.Pos
	}
	return e
}
