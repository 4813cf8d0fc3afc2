package value

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// JSONError is an error at a place in a JSON text.
type JSONError struct {
	Pos diagnostic.Pos // without a file
	Err error
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("line %d, column %d: %v", e.Pos.Line, e.Pos.Col, e.Err)
}

func (e *JSONError) Unwrap() error { return e.Err }

// StrictJSON is DecodeJSON for what a person or a caller wrote. It also refuses what would be lost without a word: what
// CheckJSON does not accept, and a key that occurs twice.
func StrictJSON[T ~string | ~[]byte](text T, into any) error {
	s := diagnostic.WithoutMark(string(text))
	if err := CheckJSON([]byte(s)); err != nil {
		return err
	}
	if err := DecodeJSON(s, into); err != nil {
		return err
	}
	return uniqueKeys(s, json.NewDecoder(strings.NewReader(s)))
}

// DecodeJSON decodes exactly one JSON value, perhaps after a byte order mark, and keeps the digits of its numbers. It takes
// what programs, MCP servers and models wrote as encoding/json does: of two equal keys, the last one applies.
func DecodeJSON[T ~string | ~[]byte](text T, into any) error {
	s := diagnostic.WithoutMark(string(text))
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	err := d.Decode(into)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return jsonError(s, int(syntax.Offset)-1, err)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return jsonError(s, len(s), errors.New("the JSON value is incomplete"))
	}
	if err != nil {
		return err
	}
	if end := int(d.InputOffset()); strings.Trim(s[end:], " \t\r\n") != "" {
		return jsonError(s, end, errors.New("the JSON value ends here, but more text follows"))
	}
	return nil
}

// uniqueKeys returns an error if an object in the next value has a key twice.
func uniqueKeys(text string, d *json.Decoder) error {
	open, err := d.Token()
	if _, is := open.(json.Delim); !is || err != nil {
		return err
	}
	seen := map[json.Token]bool{}
	for d.More() {
		if open == json.Delim('{') {
			at := int(d.InputOffset())
			key, err := d.Token()
			if err != nil {
				return err
			}
			if seen[key] {
				return jsonError(text, at+strings.IndexByte(text[at:], '"'), fmt.Errorf("the key %s occurs twice", valuetext.Quoted(key.(string))))
			}
			seen[key] = true
		}
		if err := uniqueKeys(text, d); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func jsonError(text string, at int, err error) error {
	return &JSONError{diagnostic.NewSource("", []byte(text)).Pos(min(max(at, 0), len(text))), err}
}
