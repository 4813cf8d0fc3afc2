package terminal

import (
	"io"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Interactive runs a command on a terminal of its own, where it can ask questions. A person answers
// them if there is an Options.Terminal; otherwise the default response does. stdout and stderr are
// then one stream. If the step succeeds, what it printed after the last answer is kept as stdout, and
// what precedes as stderr. Otherwise, and if nothing was answered, all of it is kept as stdout. On
// Windows interactive steps fail.
type Interactive struct {
	// Timeout is how long the step and the person may both be silent before the default response is
	// typed. 0 means no limit. If no person can be asked, the default response is typed without
	// this wait.
	Timeout time.Duration
	// Default is typed then, followed by a newline. If it is nil, the input ends.
	Default *expr.Template
}

// Terminal is the terminal of a person who answers interactive steps. One step of a run has it at a
// time. Other steps wait for it, and that time counts towards their timeouts.
type Terminal interface {
	// Attach gives the terminal to a step until the Attachment is closed. It must return at once.
	// If it fails, nobody can be asked now, and the default response is used.
	Attach(step dag.ID) (Attachment, error)
}

// Attachment is a terminal that one step has. Different goroutines call Read, Write and Close.
type Attachment interface {
	// Read returns what the person types, byte for byte. It fails when the person has left.
	io.Reader
	// Write shows output of the step as it arrives, with secrets masked. Until it returns, no more
	// output of the step is read.
	io.Writer
	// Size delivers the current size of the window, and then every new one. It may return nil if
	// the size is unknown.
	Size() <-chan Size
	// Close gives the terminal back in its former state. It must end a Read or Write that is in
	// progress.
	Close() error
}

// Size is the size of a window, in characters.
type Size struct{ Rows, Cols int }

// usualSize is the size of a terminal that no person sees.
var usualSize = Size{24, 80}
