package clientconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// readJSON returns the values of a JSON text, which may have comments and trailing commas. Literals
// other than texts are kept as they are written.
func readJSON(text []byte) (map[string]any, error) {
	file, err := parseJSON(text)
	if err != nil {
		return nil, fmt.Errorf("invalid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	value, err := valueOf(file.Value)
	if err != nil {
		return nil, err
	}
	top, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("the file does not contain a JSON object")
	}
	return top, nil
}

func parseJSON(text []byte) (hujson.Value, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	return hujson.Parse(text)
}

// valueOf returns a value of JSON. It refuses a name that an object has twice: programs differ in
// which of them counts.
func valueOf(v hujson.ValueTrimmed) (any, error) {
	switch v := v.(type) {
	case *hujson.Object:
		object := map[string]any{}
		for _, m := range v.Members {
			name := m.Name.Value.(hujson.Literal).String()
			if _, twice := object[name]; twice {
				return nil, fmt.Errorf("an object has the name %q twice", name)
			}
			var err error
			if object[name], err = valueOf(m.Value.Value); err != nil {
				return nil, err
			}
		}
		return object, nil
	case *hujson.Array:
		list := make([]any, len(v.Elements))
		for i, e := range v.Elements {
			var err error
			if list[i], err = valueOf(e.Value); err != nil {
				return nil, err
			}
		}
		return list, nil
	case hujson.Literal:
		if v.Kind() == '"' {
			return v.String(), nil
		}
		return json.Number(v), nil
	}
	return nil, fmt.Errorf("unknown JSON value %v", v)
}

// jsonEdits returns the text with the members of the server set. Everything else keeps its format.
func jsonEdits(text []byte, key, name string, members []member) [][]byte {
	file, err := parseJSON(text)
	top, ok := file.Value.(*hujson.Object)
	if err != nil || !ok {
		return nil
	}
	if find(top, key) == nil {
		set(top, "", key, "{}")
	}
	servers, ok := find(top, key).Value.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	if m := find(servers, name); m != nil {
		setEach(m, indentOf(servers), members)
	} else {
		set(servers, indentOf(top), name, entry(members))
	}
	return [][]byte{file.Pack()}
}

// entry returns the members of a new server, in one line.
func entry(members []member) string {
	list := make([]string, len(members))
	for i, m := range members {
		list[i] = quote(m.name) + ": " + quote(m.value)
	}
	return "{" + strings.Join(list, ", ") + "}"
}

// setEach sets members of the object that is the value of a member.
func setEach(of *hujson.ObjectMember, outer string, members []member) {
	o, ok := of.Value.Value.(*hujson.Object)
	if !ok {
		return
	}
	for _, m := range members {
		set(o, outer, m.name, quote(m.value))
	}
}

// find returns the member of an object with a name, or nil.
func find(o *hujson.Object, name string) *hujson.ObjectMember {
	for i := range o.Members {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			return &o.Members[i]
		}
	}
	return nil
}

// set sets a member of an object to a value in JSON. outer is the indent of the line in which the
// object begins. A new member gets a line of its own.
func set(o *hujson.Object, outer, name, value string) {
	parsed, err := hujson.Parse([]byte(value))
	if err != nil { // never: entry and quote make the value
		panic(err)
	}
	if m := find(o, name); m != nil {
		m.Value.Value = parsed.Value
		return
	}
	indent := outer + "  "
	if len(o.Members) > 0 {
		indent = indentOf(o)
	}
	// Comments after the last member belong to it, so the new member follows them.
	before, end := o.AfterExtra, hujson.Extra("\n"+outer)
	if i := bytes.LastIndexByte(o.AfterExtra, '\n'); i >= 0 {
		before, end = o.AfterExtra[:i], o.AfterExtra[i:]
	}
	member := hujson.ObjectMember{
		Name:  hujson.Value{BeforeExtra: hujson.Extra(string(before) + "\n" + indent), Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: parsed.Value},
	}
	o.AfterExtra = end
	if last := len(o.Members) - 1; last >= 0 && o.Members[last].Value.AfterExtra != nil { // there is a trailing comma
		member.Value.AfterExtra = hujson.Extra{}
	}
	o.Members = append(o.Members, member)
}

// indentOf returns the indent of the members of an object; two spaces if they have no lines of
// their own.
func indentOf(o *hujson.Object) string {
	for _, m := range o.Members {
		if i := bytes.LastIndexByte(m.Name.BeforeExtra, '\n'); i >= 0 {
			line := string(m.Name.BeforeExtra[i+1:]) // a comment may stand before the name
			return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		}
	}
	return "  "
}
