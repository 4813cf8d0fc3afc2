package sh

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"

	"github.com/flowrun/flowrun/internal/lang/quoting"
)

// SyntaxError is an error of the parser about a script.
type SyntaxError struct {
	Off     int // in the script, in bytes
	Message string
	Runs    bool // the shell runs the script anyway: a here-document is not closed
	certain bool // every shell agrees
}

// Check returns the syntax error of a script without placeholders, which Read does not parse. src is the text that
// was parsed. It returns nil if the shell may accept the script: for sh (posix), also if bash accepts it, because sh
// is bash on some machines.
func Check(src string, posix bool, pieces []quoting.Piece) *SyntaxError {
	text, _ := quoting.Mark(src, pieces)
	_, err := parseShell(text, syntax.LangBash)
	if err != nil && posix {
		if _, asPOSIX := parseShell(text, syntax.LangPOSIX); asPOSIX == nil {
			return nil
		}
	}
	if err == nil {
		return nil
	}
	if bad := newWalker(src, text, nil).syntaxError(posix, err); bad.certain {
		return bad
	}
	return nil
}

// unmarked returns the error with the placeholders as they are written.
func (w *walker) unmarked(e *SyntaxError) *SyntaxError {
	for _, m := range w.markers {
		e.Message = strings.ReplaceAll(e.Message, m.Name, m.Placeholder.Written)
	}
	return e
}

// syntaxError converts an error of the parser. The parser does not know some forms that bash accepts, such as
// $((a); b) and unquoted keys of associative arrays.
func (w *walker) syntaxError(posix bool, err error) *SyntaxError {
	e := &SyntaxError{Message: err.Error()}
	switch err := err.(type) {
	case syntax.ParseError:
		e.Off = int(err.Pos.Offset())
		e.Message, e.certain = explainShell(err.Text)
	case syntax.LangError:
		e.Off, e.Message = int(err.Pos.Offset()), err.Feature+" are not supported by POSIX sh"
	}
	e.Runs = strings.HasPrefix(e.Message, "unclosed here-document")
	e.Off = w.sourceOffset(e.Off)
	shell := "bash"
	if posix {
		shell = "sh"
	}
	e.Message = shell + " syntax error: " + e.Message
	return e
}

// shellMessages are the messages of the parser about scripts that no shell accepts, and what to say instead.
var shellMessages = sync.OnceValue(func() (list []shellMessage) {
	for _, pair := range [][2]string{
		{"^reached .* without closing quote \"`\"$", "unclosed backquote"},
		{"^reached .* without closing quote .*$", "unclosed quote"},
		{"^reached EOF without matching (`.*`) with (`.*`)$", "unclosed $1, $2 is missing"},
		{"^reached (`.*`) without matching (`[$]?[({]`) with (`.*`)$", "unexpected $1, $3 is missing for $2"},
		{"^unclosed here-document (`.*`)$", "unclosed here-document $1"},
		{"^a command can only contain words and redirects; encountered (`.*`)$", "unexpected $1"},
		{"^(`.*`) is not a valid start for a statement$", "unexpected $1"},
		{"^`for foo [[]in words[]]` must be followed by (`.*`)$", "`for` must be followed by $1"},
		{"^not a valid parameter expansion operator: \"\\\\n\"$", "unclosed `${`"},
		{"^`foo[(][)]` must be followed by a statement$", "the name of a function must be followed by its commands"},
		{"^(`.*`) must be followed by a statement( list)?$", "$1 must be followed by a command"},
		{"^(`.*`) must be followed by (a word|`then`|`do`|`in`)$", "$1 must be followed by $2"},
		{"^(`.*`) statement must end with (`.*`)$", "$1 must end with $2"},
		{"^(`.*`) can only (immediately follow|be used) .*$", "$0"},
	} {
		list = append(list, shellMessage{regexp.MustCompile(pair[0]), pair[1]})
	}
	return list
})

type shellMessage struct {
	pattern *regexp.Regexp
	message string
}

// explainShell returns the message for an error of the parser, and whether no shell accepts the script.
func explainShell(text string) (message string, certain bool) {
	for _, m := range shellMessages() {
		if m.pattern.MatchString(text) {
			return m.pattern.ReplaceAllString(text, m.message), true
		}
	}
	return text, false
}
