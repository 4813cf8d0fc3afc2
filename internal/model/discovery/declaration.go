package discovery

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Declaration is one tool that the command printed.
type Declaration struct {
	Name        string
	Description string
	Schema      *dataschema.Schema // of its parameters; the schema of an object
}

// maxWarned is how many ignored declarations are reported one by one.
const maxWarned = 20

// Read parses what a command printed: a JSON array of declarations. An item is a
// declaration, {"function_declarations": [...]}, {"functionDeclarations": [...]} or
// {"type": "function", "function": {...}}. Of several declarations with one name the first
// is used. The warnings say which ones were ignored. It returns an error if the text is not
// such an array.
func Read(printed []byte) (list []Declaration, warnings []string, err error) {
	items, err := array(printed)
	if err != nil {
		return nil, nil, err
	}
	r := reader{names: map[string]bool{}}
	for i, item := range items {
		r.item(fmt.Sprintf("item %d", i+1), item)
	}
	if r.omitted > 0 {
		r.warnings = append(r.warnings, fmt.Sprintf("and %d more declarations were ignored", r.omitted))
	}
	return r.list, r.warnings, nil
}

// array returns the items of the printed array.
func array(printed []byte) (items []json.RawMessage, err error) {
	const expected = "expected a JSON array of declarations"
	text := bytes.TrimSpace(diagnostic.WithoutMark(printed))
	if len(text) == 0 {
		return nil, errors.New("it printed nothing; " + expected)
	}
	if text[0] != '[' {
		return nil, fmt.Errorf("it printed %s; %s", beginning(text), expected)
	}
	if err := json.Unmarshal(text, &items); err != nil {
		if at, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fmt.Errorf("it printed invalid JSON: %w, at byte %d; %s", err, at.Offset, expected)
		}
		return nil, fmt.Errorf("it printed invalid JSON: %w; %s", err, expected)
	}
	return items, nil
}

// beginning returns the start of a text, quoted.
func beginning(text []byte) string {
	const most = 60
	s := strings.ToValidUTF8(string(text[:min(len(text), most)]), "")
	if len(text) > most {
		s += "..."
	}
	return strconv.Quote(s)
}

// reader collects declarations.
type reader struct {
	list     []Declaration
	names    map[string]bool
	warnings []string
	omitted  int // warnings beyond maxWarned
}

// warn reports a declaration that is ignored.
func (r *reader) warn(where, format string, args ...any) {
	if len(r.warnings) == maxWarned {
		r.omitted++
		return
	}
	r.warnings = append(r.warnings, where+" was ignored: "+fmt.Sprintf(format, args...))
}

// maxLeftOut is how many parts of a schema a warning names.
const maxLeftOut = 10

// warnOfSchema reports a declaration that is used without parts of its schema.
func (r *reader) warnOfSchema(where string, leftOut []string) {
	if len(leftOut) == 0 || len(r.warnings) >= maxWarned {
		return
	}
	names := strconv.Quote(strings.Join(leftOut[:min(len(leftOut), maxLeftOut)], ", "))
	r.warnings = append(r.warnings, fmt.Sprintf("%s is used without a part of its schema, which its program has to check: %s", where, names[1:len(names)-1]))
}

// object returns the members of a JSON object; nil for another value or null.
func object(text json.RawMessage) map[string]json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	return members
}

// item reads an element of the array.
func (r *reader) item(where string, text json.RawMessage) {
	members := object(text)
	for _, key := range []string{"function_declarations", "functionDeclarations"} {
		inner, given := members[key]
		if !given {
			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(inner, &list) != nil {
			r.warn(where, "%s is not an array", key)
			continue
		}
		for i, one := range list {
			r.declaration(fmt.Sprintf("%s, %s %d", where, key, i+1), object(one))
		}
	}
	if members["function_declarations"] != nil || members["functionDeclarations"] != nil {
		return
	}
	if inner := object(members["function"]); inner != nil {
		members = inner
	}
	r.declaration(where, members)
}

// declaration reads one tool.
func (r *reader) declaration(where string, members map[string]json.RawMessage) {
	if members == nil {
		r.warn(where, "a declaration must be an object with a name")
		return
	}
	var d Declaration
	if json.Unmarshal(members["name"], &d.Name) != nil || d.Name == "" {
		r.warn(where, "it has no name")
		return
	}
	where = "tool " + beginning([]byte(d.Name))
	switch {
	case !tool.ValidName(d.Name):
		r.warn(where, "invalid name; names have at most 128 characters: letters, digits and _ . -")
		return
	case r.names[d.Name]:
		r.warn(where, "an earlier declaration has the same name")
		return
	}
	json.Unmarshal(members["description"], &d.Description) // a missing or invalid description is accepted
	var leftOut []string
	var err error
	if d.Schema, leftOut, err = schemaOf(members); err != nil {
		r.warn(where, "%v", err)
		return
	}
	r.warnOfSchema(where, leftOut)
	r.names[d.Name] = true
	r.list = append(r.list, d)
}
