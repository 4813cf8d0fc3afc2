package jsworld

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Kind classifies a Failure.
type Kind string

// The kinds.
const (
	KindThrown  Kind = "script"  // the script threw something
	KindTimeout Kind = "timeout" // it exceeded its time limit
	KindMemory  Kind = "memory"  // it exceeded its memory limit
	KindResult  Kind = "result"  // its result cannot be written as JSON
	KindLost    Kind = "lost"    // the child ended for another reason

	KindParameters Kind = "parameters" // validate rejected the parameters
)

// Limits for what a script returns, in bytes.
const (
	MaxResult  = 16 << 20
	MaxMessage = 4 << 10
)

// Failure is an error of a script as it is sent between processes. It holds an offset and not a
// position, because the definition that the script is part of stays in the program.
type Failure struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	// Off is an offset in the author's text. A failure of a Module has Pos instead.
	Off *int      `json:"off,omitempty"`
	Pos *tool.Pos `json:"pos,omitempty"`
	// State holds the data members of a tool that was stopped before it cleaned up. It is nil if
	// nothing is to be cleaned up.
	State json.RawMessage `json:"state,omitempty"`
}

// Failed returns a Failure with a message that is cut at MaxMessage.
func Failed(kind Kind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: Shorten(fmt.Sprintf(format, args...))}
}

// Shorten cuts a message to at most MaxMessage bytes without splitting a character, and replaces
// invalid UTF-8.
func Shorten(s string) string {
	const more = "…"
	if len(s) > MaxMessage {
		end := MaxMessage - len(more)
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + more
	}
	return strings.ToValidUTF8(s, "?")
}
