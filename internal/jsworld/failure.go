package jsworld

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/tool"
)

// Kind of an Error.
type Kind string

// The kinds.
const (
	KindThrown  Kind = "script"  // the script threw something
	KindTimeout Kind = "timeout" // it ran longer than it may
	KindMemory  Kind = "memory"  // it took more memory than it may
	KindResult  Kind = "result"  // what it returned is no JSON
	KindLost    Kind = "lost"    // the child died for another reason
)

// What a script may hand back at most, in bytes.
const (
	MaxResult  = 16 << 20
	MaxMessage = 4 << 10
)

// Failure is an Error as it travels between processes: the author's text, by which an
// offset becomes a place, stays at home.
type Failure struct {
	Kind    Kind   `json:"kind"`
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	// Off is an offset in the author's text; of a Module there is Pos instead.
	Off *int      `json:"off,omitempty"`
	Pos *tool.Pos `json:"pos,omitempty"`
}

func Failed(kind Kind, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Message: Shorten(fmt.Sprintf(format, args...))}
}

// Shorten cuts a message at MaxMessage, on a border between characters.
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
