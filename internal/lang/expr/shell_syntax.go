package expr

import (
	"regexp"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// SyntaxProblems returns the syntax error of a script for bash or sh without placeholders, which ParseTemplate does not
// parse. src is the text that was parsed. There is none if the shell may accept the script: for sh, also if bash
// accepts it, because sh is bash on some machines. An unclosed here-document is a warning, because the shell runs it.
func (t *Template) SyntaxProblems(src string) []Problem {
	if !t.static || t.shell != Bash && t.shell != Sh || len(src) > maxScript {
		return nil
	}
	text, _ := withMarkers(src, t.pieces)
	_, err := parseShell(text, syntax.LangBash)
	if err != nil && t.shell == Sh {
		_, posix := parseShell(text, syntax.LangPOSIX)
		if posix == nil {
			return nil
		}
	}
	if err == nil {
		return nil
	}
	w := newWalker(src, text, nil)
	p, certain := w.syntaxError(t.shell, err)
	if !certain {
		return nil
	}
	return []Problem{p}
}

// syntaxProblem converts a syntax error of a script with placeholders to a Problem. Values cannot be put into a script
// that does not parse, because it is unknown what surrounds them.
func (w *walker) syntaxProblem(sh Shell, err error) Problem {
	p, _ := w.syntaxError(sh, err)
	p.Warning = false
	for _, m := range w.markers {
		p.Message = strings.ReplaceAll(p.Message, m.name, w.src[m.placeholder.off:m.placeholder.off+m.placeholder.len])
	}
	p.Hint = "correct the script; to keep braces as text, write {{X}}"
	if sh == Sh {
		p.Hint += "; if it is a script for bash, use the key bash"
	}
	return p
}

// syntaxError converts a syntax error to a Problem. certain reports that every shell agrees. The parser does not know
// some forms that bash accepts, such as $((a); b) and unquoted keys of associative arrays.
func (w *walker) syntaxError(sh Shell, err error) (p Problem, certain bool) {
	off, what := 0, err.Error()
	switch e := err.(type) {
	case syntax.ParseError:
		off = int(e.Pos.Offset())
		what, certain = explainShell(e.Text)
	case syntax.LangError:
		off, what = int(e.Pos.Offset()), e.Feature+" are not supported by POSIX sh"
	}
	shell := "bash"
	if sh == Sh {
		shell = "sh"
	}
	off = w.sourceOffset(off)
	p = problemf(codeShell, off, min(1, len(w.src)-off), "", "%s syntax error: %s", shell, what)
	p.Warning = strings.HasPrefix(what, "unclosed here-document")
	return p, certain
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
