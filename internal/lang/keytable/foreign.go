package keytable

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// This file reads what other programs write in a file that they share with flowrun: the objects that Object.Open returns. A
// value in another form is read if it has one meaning. What cannot be read is left out of its named object, and the other
// objects are not affected: the file belongs to programs that read more.

// Foreign says how other programs write a field.
type Foreign struct {
	Spellings []string            // other keys, which count if their value can be one of the field
	Rest      string              // of texts: the key of the list that has the rest, if the value is a list
	Inside    bool                // the value may be an object that has keys of the object around it
	Objects   string              // of sections: the key of the named objects that may be in it
	Minor     bool                // a named object is used without a value that cannot be read
	Name      func(string) string // of object maps: the name of an object in flowrun
}

// fieldFor returns the field that a key stands for, nil if there is none.
func (o *Object) fieldFor(key string, value *yaml.Node) *Field {
	if f := o.Field(key); f != nil || !o.open {
		return f
	}
	for i := range o.Fields() {
		if f := &o.Fields()[i]; f.Foreign != nil && slices.Contains(f.Foreign.Spellings, key) && f.fits(o, Deref(value)) {
			return f
		}
	}
	return nil
}

// fits reports whether a value has a form that the field of an object can have. In other programs, the same key may be
// something else.
func (f *Field) fits(o *Object, n *yaml.Node) bool {
	members := n.Content
	if n.Kind == yaml.MappingNode {
		members = valuesOf(n.Content)
	}
	switch f.Kind {
	case KindObjectMap:
		return n.Kind != yaml.ScalarNode && allOf(members, yaml.MappingNode) && slices.ContainsFunc(members, func(m *yaml.Node) bool { return f.Of.resembles(Deref(m)) })
	case KindTextMap:
		return n.Kind != yaml.ScalarNode && allOf(members, yaml.ScalarNode)
	case KindTexts:
		return n.Kind != yaml.MappingNode && allOf(members, yaml.ScalarNode)
	}
	return n.Kind == yaml.ScalarNode || f.Foreign.Rest != "" && n.Kind == yaml.SequenceNode || f.Foreign.Inside && o.resembles(n)
}

// resembles reports whether a value is a mapping with the key of a text that matters to the object.
func (o *Object) resembles(n *yaml.Node) bool {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		f := o.fieldFor(n.Content[i].Value, n.Content[i+1])
		if f != nil && f.Kind == KindText && (f.Foreign == nil || !f.Foreign.Minor) {
			return true
		}
	}
	return false
}

// valuesOf returns the values in the content of a mapping.
func valuesOf(content []*yaml.Node) (values []*yaml.Node) {
	for i := 1; i < len(content); i += 2 {
		values = append(values, content[i])
	}
	return values
}

func allOf(list []*yaml.Node, kind yaml.Kind) bool {
	return !slices.ContainsFunc(list, func(n *yaml.Node) bool { return Deref(n).Kind != kind })
}

// foreignSetting reads the value of one key of an open object.
func (d *Decoder) foreignSetting(o *Object, f *Field, keys []string, n *yaml.Node, into *[]Setting) {
	about := cmp.Or(f.Foreign, &Foreign{})
	before := len(d.Found)
	switch n = foreignValue(f, Deref(n)); {
	case f.Kind == KindObjectMap:
		d.foreignObjects(f, keys, n, into)
	case f.Kind == KindObject && n.Kind != yaml.MappingNode:
		if len(keys) > 1 { // otherwise the key is one of another program
			d.Warn(n, "wrong-type", "expected a mapping of keys, found "+Describe(n), "")
		}
	case f.Kind == KindObject && about.Objects != "":
		d.setting(f, keys, n, into)
		d.objectsInside(f.Of, o.Field(about.Objects), n, into)
	case f.Kind == KindTextMap:
		d.foreignTexts(keys, n, into)
	case about.Inside && n.Kind == yaml.MappingNode && o.resembles(n):
		d.settings(o, keys[:len(keys)-1], n, into)
	case about.Rest != "" && n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		d.setting(f, keys, n.Content[0], into)
		rest := *n
		rest.Content = n.Content[1:]
		d.setting(o.Field(about.Rest), append(slices.Clone(keys[:len(keys)-1]), about.Rest), &rest, into)
	default:
		d.setting(f, keys, n, into)
	}
	for i := range d.Found[before:] {
		if one := &d.Found[before+i]; about.Minor && one.Severity == diagnostic.Error {
			one.Severity = diagnostic.Warning
		}
	}
}

// foreignValue returns a value in the form of the field: other programs write numbers and booleans as texts, and variables
// as a list of NAME=VALUE.
func foreignValue(f *Field, n *yaml.Node) *yaml.Node {
	text := ""
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		text = n.Value
	}
	as := func(tag, value string) *yaml.Node {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value, Line: n.Line, Column: n.Column}
	}
	switch {
	case f.Kind == KindBoolean && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
		return as("!!bool", strings.ToLower(text))
	case (f.Kind == KindDuration || f.Kind == KindInteger) && wholeNumber().MatchString(text):
		return as("!!int", text)
	case f.Kind == KindTextMap && n.Kind == yaml.SequenceNode:
		variables := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: n.Line, Column: n.Column}
		for _, item := range n.Content {
			name, value, ok := strings.Cut(Deref(item).Value, "=")
			if !ok || name == "" {
				return n
			}
			variables.Content = append(variables.Content, as("!!str", name), as("!!str", value))
		}
		return variables
	}
	return n
}

// foreignTexts reads a mapping of names to texts. null stands for a value that is not set.
func (d *Decoder) foreignTexts(keys []string, n *yaml.Node, into *[]Setting) {
	d.eachKey(n, func(key, item *yaml.Node) {
		if isNull(item) {
			d.Warn(item, "empty-value", "it has no value", "")
			return
		}
		d.scalarSetting(&Field{Kind: KindText}, append(slices.Clone(keys), key.Value), item, false, into)
	})
}

// foreignObjects reads named objects: of each all that can be read, or nothing if something is missing that it needs.
func (d *Decoder) foreignObjects(f *Field, keys []string, n *yaml.Node, into *[]Setting) {
	if n.Kind == yaml.SequenceNode {
		n = byName(n)
	}
	d.eachKey(n, func(key, item *yaml.Node) {
		path, found, errors := d.Path, d.Found, d.errors
		d.Path, d.Found, d.errors = nil, nil, 0
		o := NamedObject{Map: f.Key, Name: key.Value, Written: key.Value}
		var list []Setting
		if item = Deref(item); item.Kind == yaml.MappingNode { // other programs write null, or a comment
			o.Name = f.Foreign.Name(key.Value)
			o.Unknown = d.unknownTo(f.Of, item)
			d.settings(f.Of, append(slices.Clone(keys), o.Name), item, &list)
			d.reportTaken(o, key)
		}
		if o.LeftOut = d.Found; o.LeftOut.Err() == nil {
			*into = append(*into, list...)
		}
		d.objects = append(d.objects, o)
		d.Path, d.Found, d.errors = path, found, errors
	})
}

// objectsInside reads the named objects in a section: those under a key that stands for all, and members that the section
// does not have but that resemble such an object.
func (d *Decoder) objectsInside(section *Object, of *Field, n *yaml.Node, into *[]Setting) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		switch key, value := n.Content[i], Deref(n.Content[i+1]); {
		case section.fieldFor(key.Value, value) != nil:
		case slices.Contains(of.Foreign.Spellings, key.Value) && of.fits(section, value):
			d.foreignObjects(of, []string{of.Key}, value, into)
		case of.Of.resembles(value):
			d.foreignObjects(of, []string{of.Key}, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: n.Content[i : i+2]}, into)
		}
	}
}

// byName returns the mapping for a list of objects that have their names inside. Without one, an object is named by its
// place.
func byName(list *yaml.Node) *yaml.Node {
	named := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: list.Line, Column: list.Column}
	for i, item := range list.Content {
		object := *Deref(item)
		name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: strconv.Itoa(i + 1), Line: item.Line, Column: item.Column}
		for k := 0; object.Kind == yaml.MappingNode && k+1 < len(object.Content); k += 2 {
			if object.Content[k].Value == "name" && object.Content[k+1].Kind == yaml.ScalarNode {
				name = object.Content[k+1]
				object.Content = slices.Delete(slices.Clone(object.Content), k, k+2)
			}
		}
		named.Content = append(named.Content, name, &object)
	}
	return named
}

// reportTaken reports an object with the name of an earlier one.
func (d *Decoder) reportTaken(o NamedObject, key *yaml.Node) {
	for _, other := range d.objects {
		if other.Map == o.Map && other.Name == o.Name {
			d.Fail(key, "duplicate-key", fmt.Sprintf("%s has the same name", diagnostic.Quote(other.Written)), "")
			return
		}
	}
}

// unknownTo returns the keys of a mapping that an object does not have.
func (d *Decoder) unknownTo(o *Object, n *yaml.Node) (keys []string) {
	if n = Deref(n); n.Kind != yaml.MappingNode {
		return nil
	}
	content := d.Merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		if key := content[i]; key.Kind == yaml.ScalarNode && !strings.HasPrefix(key.Value, "x-") && o.fieldFor(key.Value, content[i+1]) == nil {
			keys = append(keys, key.Value)
		}
	}
	return keys
}
