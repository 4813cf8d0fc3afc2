package stepfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Limit is the maximum size of a file, in bytes.
const Limit = 1 << 20

// Entry is a value that a step wrote. Value is a string for NAME=value and NAME<<EOF, which Typed converts, and any value
// of JSON for a member of an object. Numbers are json.Numbers.
type Entry struct {
	Name  string
	Value any
	Text  bool // written as text
	Line  int  // counts from 1; 0 for a value that is not from a file
}

// Error is a problem in a file. The message may contain a short text of the file, so the caller must mask it. It contains
// no long one, and no line that cannot be read: masking would not recognize a part of a secret.
type Error struct {
	Line    int // 0: the file as a whole
	Message string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Message
	}
	return fmt.Sprintf("line %d: %s", e.Line, e.Message)
}

// In returns the error with the name of the file.
func (e *Error) In(file string) error {
	return &Error{0, Entry{Line: e.Line}.place(file) + ": " + e.Message}
}

// reader reads a file from its start to its end.
type reader struct {
	rest []byte
	line int // of rest
	list []Entry
}

// Parse returns the entries of a file in the order of their lines. The error is an *Error.
func Parse(text []byte) ([]Entry, error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	r := &reader{rest: bytes.TrimPrefix(text, []byte("\uFEFF")), line: 1}
	for len(r.rest) > 0 {
		if err := r.entry(); err != nil {
			return nil, err
		}
	}
	return r.list, nil
}

func checkText(text []byte) error {
	if len(text) > Limit {
		return &Error{0, fmt.Sprintf("the file has more than %d bytes; write large data to a file of its own, and its path here", Limit)}
	}
	if bytes.HasPrefix(text, []byte{0xFF, 0xFE}) || bytes.HasPrefix(text, []byte{0xFE, 0xFF}) {
		return &Error{1, "the file is UTF-16; write UTF-8, in PowerShell with Add-Content -Encoding utf8"}
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return &Error{lineAt(text, at), "the line has a NUL byte; write text, for example in base64"}
	}
	if !utf8.Valid(text) {
		at := 0
		for at < len(text) {
			c, n := utf8.DecodeRune(text[at:])
			if c == utf8.RuneError && n == 1 {
				break
			}
			at += n
		}
		return &Error{lineAt(text, at), "the line is not UTF-8; write text, for example in base64"}
	}
	return nil
}

// lineAt returns the number of the line with that byte.
func lineAt(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte("\n")) }

// nextLine reads a line, without its end.
func (r *reader) nextLine() string {
	line, rest, _ := bytes.Cut(r.rest, []byte("\n"))
	r.rest = rest
	r.line++
	return strings.TrimSuffix(string(line), "\r")
}

// entry reads an empty line, a line NAME=value, a value of several lines, or a JSON object.
func (r *reader) entry() error {
	first, _, _ := bytes.Cut(r.rest, []byte("\n"))
	if bytes.HasPrefix(bytes.TrimLeft(first, " \t"), []byte("{")) {
		return r.object()
	}
	at := r.line
	line := r.nextLine()
	name, value, found := strings.Cut(line, "=")
	if open, end, many := strings.Cut(line, "<<"); many && (!found || len(open) < len(name)) {
		return r.lines(at, open, end)
	}
	switch {
	case strings.TrimSpace(line) == "":
		return nil
	case !found:
		return &Error{at, "expected NAME=value, NAME<<EOF or a JSON object"}
	}
	return r.add(Entry{Name: name, Value: value, Text: true, Line: at})
}

func (r *reader) add(e Entry) error {
	if !IsName(e.Name) {
		return &Error{e.Line, fmt.Sprintf("%s is not a name; a name consists of letters, digits, _ and -, and no spaces stand around it", quoted(e.Name))}
	}
	r.list = append(r.list, e)
	return nil
}

// lines reads a value of several lines, up to the line that is only end.
func (r *reader) lines(at int, name, end string) error {
	if end = strings.TrimSpace(end); end == "" {
		return &Error{at, "expected a word after <<, as in NAME<<EOF; the value ends at the line with this word"}
	}
	var value []string
	for len(r.rest) > 0 {
		line := r.nextLine()
		if line == end {
			return r.add(Entry{Name: name, Value: strings.Join(value, "\n"), Text: true, Line: at})
		}
		value = append(value, line)
	}
	return &Error{at, fmt.Sprintf("the value is not ended: no line consists of %s", quoted(end))}
}

// object reads a JSON object, which may have several lines.
func (r *reader) object() error {
	at := r.line
	d := json.NewDecoder(bytes.NewReader(r.rest))
	d.UseNumber()
	if _, err := d.Token(); err != nil {
		return &Error{at, "invalid JSON"}
	}
	for d.More() {
		name, err := d.Token()
		line := at + bytes.Count(r.rest[:d.InputOffset()], []byte("\n"))
		var value any
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return r.invalid(err, line)
		}
		key, _ := name.(string)
		if err := r.add(Entry{Name: key, Value: value, Line: line}); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return r.invalid(err, at)
	}
	end := int(d.InputOffset())
	r.line += bytes.Count(r.rest[:end], []byte("\n"))
	r.rest = r.rest[end:]
	last := r.line
	if strings.TrimSpace(r.nextLine()) != "" {
		return &Error{last, "expected the end of the line after a JSON object"}
	}
	return nil
}

// invalid returns the error for JSON that cannot be read.
func (r *reader) invalid(err error, line int) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &Error{line, "invalid JSON: the object has no end"}
	}
	return &Error{line, "invalid JSON"}
}

// IsName reports whether a value can have that name: letters, digits, _ and -, beginning with a letter or _.
func IsName(s string) bool {
	for i, c := range s {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

// quoted returns a short text in quotes, or the length of a long one: its beginning could be that of a secret, which
// masking would not recognize.
func quoted(s string) string {
	if n := utf8.RuneCountInString(s); n > 40 {
		return fmt.Sprintf("a text of %d characters", n)
	}
	return fmt.Sprintf("%q", s)
}
