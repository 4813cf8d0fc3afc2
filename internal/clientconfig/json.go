package clientconfig

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// addJSON sets one member of the object with the key at the top of a JSON text, which may have
// comments and trailing commas.
func addJSON(text []byte, key, name, entry string) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{\n}\n")
	}
	file, err := hujson.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("invalid JSON: %s", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	top, ok := file.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("the file does not contain a JSON object")
	}
	if find(top, key) == nil {
		set(top, "", key, "{}")
	}
	servers, ok := find(top, key).Value.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("%q is not a JSON object", key)
	}
	set(servers, indentOf(top), name, entry)
	return file.Pack(), nil
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
	if err != nil { // never: entry and addJSON make the value
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
			return string(m.Name.BeforeExtra[i+1:])
		}
	}
	return "  "
}
