package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"unicode/utf8"
)

// bom is the mark that some editors of Windows write at the start of a file.
var bom = []byte("\ufeff")

// Add returns the text of a settings file with the server in it. Of a server with the same name,
// the command and its arguments are replaced. The error says why the text cannot be changed.
//
// The edits work on the text. What they make is parsed, and must have the values of the former text
// and the server; else Add fails, whatever unusual form the text has.
func (c Client) Add(text []byte, s Server) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	body, marked := bytes.CutPrefix(text, bom)
	read, edits := readJSON, jsonEdits
	if c.toml {
		read, edits = readTOML, tomlEdits
	}
	was, err := read(body)
	if err != nil {
		return nil, err
	}
	want, err := c.with(was, s)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(was, want) {
		return text, nil
	}
	for _, edited := range edits(body, c.key, s.Name, c.members(s)) {
		if got, err := read(edited); err != nil || !reflect.DeepEqual(got, want) {
			continue
		}
		edited = withLineEnds(edited, body)
		if marked {
			edited = append(bytes.Clone(bom), edited...)
		}
		return edited, nil
	}
	return nil, errors.New("the file is written in a form that flowrun does not change")
}

// withLineEnds returns the text with the line ends of another one, if all of those are CRLF.
func withLineEnds(text, like []byte) []byte {
	lf, crlf := []byte("\n"), []byte("\r\n")
	if n := bytes.Count(like, crlf); n == 0 || n != bytes.Count(like, lf) {
		return text
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, crlf, lf), lf, crlf)
}

// check returns why the server cannot be written: both formats consist of UTF-8.
func (s Server) check() error {
	for _, text := range append([]string{s.Name, s.Command}, s.Args...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("%q is not UTF-8, so settings cannot contain it", text)
		}
	}
	return nil
}

// member is a setting of a server: a text or a list of texts.
type member struct {
	name  string
	value any
}

// members returns the settings that the server needs, in the order in which they are written.
func (c Client) members(s Server) (list []member) {
	for _, m := range c.extra {
		list = append(list, member{m[0], m[1]})
	}
	args := make([]any, len(s.Args))
	for i, a := range s.Args {
		args[i] = a
	}
	return append(list, member{"command", s.Command}, member{"args", args})
}

// with returns the values of a settings file with the server.
func (c Client) with(was map[string]any, s Server) (map[string]any, error) {
	servers, err := tableOf(was, c.key)
	if err != nil {
		return nil, err
	}
	entry, err := tableOf(servers, s.Name)
	if err != nil {
		return nil, err
	}
	for _, m := range c.members(s) {
		entry[m.name] = m.value
	}
	servers[s.Name] = entry
	want := maps.Clone(was)
	want[c.key] = servers
	return want, nil
}

// tableOf returns a copy of an object in another one, empty if there is none.
func tableOf(in map[string]any, name string) (map[string]any, error) {
	value, exists := in[name]
	if !exists {
		return map[string]any{}, nil
	}
	table, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%q is not an object", name)
	}
	return maps.Clone(table), nil
}

// quote returns a text or a list of texts in JSON, which is also a value of TOML.
func quote(value any) string {
	if list, ok := value.([]any); ok {
		quoted := make([]string, len(list))
		for i, v := range list {
			quoted[i] = quote(v)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	b, err := json.Marshal(value)
	if err != nil { // never: a text can be encoded
		return fmt.Sprintf("%q", value)
	}
	return string(b)
}
