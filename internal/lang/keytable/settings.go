package keytable

import (
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// This file reads settings files: YAML or JSON documents that are not definitions, but whose keys are also in a table
// of Objects. A definition is decoded into one Go value. Settings of several files are layered over each other, so each
// value is kept separately with its position.

// Setting is one value of a settings file: a scalar, or one element of a list.
type Setting struct {
	Keys []string // the key path of the value
	Pos  diagnostic.Pos
	// Value is a string, bool, int64 or time.Duration, depending on the kind of the field.
	Value any
	// List reports that the value is an element of a list, which may have further elements.
	List bool
}

// Path returns the keys joined by dots, such as history.keep.
func (s Setting) Path() string { return strings.Join(s.Keys, ".") }

// NamedObject is one of the objects that a settings file has by name, such as a server of mcpServers.
type NamedObject struct {
	Map     string   // the key of the objects
	Name    string   // as in Setting.Keys
	Written string   // in the file
	Unknown []string // keys that flowrun does not have
	// LeftOut are the values of a file of other programs that are not among the settings, each with the keys below the
	// object as its path. If one of them is an error, none of the object is.
	LeftOut diagnostic.Diagnostics
}

// DecodeSettings reads a settings file with the keys of o. It returns all problems, sorted by position, and the
// settings and objects that could be read even if there are errors. An empty file has no settings.
func DecodeSettings(o *Object, file string, src []byte) ([]Setting, []NamedObject, diagnostic.Diagnostics) {
	if len(strings.TrimSpace(string(src))) == 0 {
		return nil, nil, nil
	}
	d := &Decoder{Src: diagnostic.NewSource(file, src), Root: o}
	var list []Setting
	if problem, bad := d.Src.Problem(); bad {
		d.Report(problem)
	} else if root := d.Parse(); root != nil && d.Shape(root) {
		d.settings(o, nil, root, &list)
	}
	for i := range d.Found { // the decoder's messages are written for definitions
		one := &d.Found[i]
		one.Message = strings.Replace(one.Message, "the definition", "the file", 1)
		if one.Code == "second-document" {
			one.Hint = "remove the '---' line and what follows"
		}
	}
	found := slices.DeleteFunc(d.Found.Sorted(), func(one diagnostic.Diagnostic) bool { return one.Code == "empty-file" }) // the file contains only comments
	return list, d.objects, found
}

// ParseSetting reads one value that is not in a file, such as that of an environment variable. Diagnostics name from
// instead of the file.
func ParseSetting(f Field, from, value string) (any, diagnostic.Diagnostics) {
	d := &Decoder{Src: diagnostic.NewSource(from, []byte(value)), Root: NewObject(from, "", func() []Field { return []Field{f} })}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value, Line: 1, Column: 1}
	if f.Kind == KindText || f.Kind == KindTexts {
		n.Style = yaml.DoubleQuotedStyle
	}
	n.Tag = n.ShortTag()
	v, _ := d.settingValue(&f, n)
	for i := range d.Found {
		d.Found[i].Pos = diagnostic.Pos{File: from}
	}
	return v, d.Found.Sorted()
}

// settings reads the values of a mapping, including nested mappings.
func (d *Decoder) settings(o *Object, keys []string, n *yaml.Node, into *[]Setting) {
	n = Deref(n)
	if n.Kind != yaml.MappingNode {
		d.WrongType(n, "a mapping of keys")
		return
	}
	content := d.Merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		if key.Kind != yaml.ScalarNode || strings.HasPrefix(key.Value, "x-") {
			continue
		}
		f := o.fieldFor(key.Value, value)
		if f == nil {
			if !o.open {
				d.unknownKey(o, key, value)
			}
			continue
		}
		if o.open && isNull(value) { // other programs write null for what is not set
			continue
		}
		if o.open && f.Kind == KindObject { // what is inside belongs to the other programs, too
			inside := *f
			inside.Of, f = f.Of.Open(), &inside
		}
		d.Path.Push(key.Value)
		if o.open {
			d.foreignSetting(o, f, append(slices.Clone(keys), f.Key), value, into)
		} else {
			d.setting(f, append(slices.Clone(keys), f.Key), value, into)
		}
		d.Path.Pop()
	}
}

func isNull(n *yaml.Node) bool { return Deref(n).ShortTag() == "!!null" }

// setting reads the value of one key.
func (d *Decoder) setting(f *Field, keys []string, n *yaml.Node, into *[]Setting) {
	n = Deref(n)
	switch {
	case f.Kind == KindObject:
		d.settings(f.Of, keys, n, into)
	case f.Kind == KindObjectMap:
		d.eachKey(n, func(key, item *yaml.Node) {
			d.objects = append(d.objects, NamedObject{Map: f.Key, Name: key.Value, Written: key.Value, Unknown: d.unknownTo(f.Of, item)})
			keys := append(slices.Clone(keys), key.Value)
			if short := f.Of.Field(f.Short); short != nil && Deref(item).Kind == yaml.ScalarNode {
				d.setting(short, append(keys, short.Key), item, into)
				return
			}
			d.settings(f.Of, keys, item, into)
		})
	case f.Kind == KindTextMap:
		d.eachKey(n, func(key, item *yaml.Node) {
			d.scalarSetting(&Field{Kind: KindText}, append(slices.Clone(keys), key.Value), item, false, into)
		})
	case f.Kind == KindTexts && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			d.Path.pushIndex(i)
			d.scalarSetting(f, keys, Deref(item), true, into)
			d.Path.Pop()
		}
	default:
		d.scalarSetting(f, keys, n, f.Kind == KindTexts, into)
	}
}

func (d *Decoder) scalarSetting(f *Field, keys []string, n *yaml.Node, list bool, into *[]Setting) {
	if v, ok := d.settingValue(f, n); ok {
		*into = append(*into, Setting{Keys: keys, Pos: d.Pos(n), Value: v, List: list})
	}
}

// settingValue reads a scalar of the field's kind.
func (d *Decoder) settingValue(f *Field, n *yaml.Node) (v any, ok bool) {
	switch f.Kind {
	case KindBoolean:
		return d.boolean(n)
	case KindInteger:
		i, ok := integerIn(f.Min, f.Max)(d, n)
		return int64(i), ok
	case KindDuration:
		var t time.Duration
		if t, ok = d.duration(n); f.InSeconds && n.ShortTag() == "!!int" && t < time.Second {
			t *= time.Second / time.Millisecond
		}
		return t, ok
	case KindSize:
		return d.size(n)
	case KindChoice:
		return OneOf(f.Enum)(d, n)
	}
	t, ok := d.Text(n)
	return t.S, ok
}
