package tool

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// This file reads settings files: YAML or JSON documents that are no definitions, whose
// keys stand in a table of Objects as well. A definition is decoded into a value of its
// own; of settings, which are layered over each other, every value is kept by itself
// with its place.

// Setting is one value of a settings file: a scalar, or one element of a list.
type Setting struct {
	Keys []string // the path to it
	Pos  Pos
	// Value is a string, bool, int64, or time.Duration, as the field's kind says.
	Value any
	// List says that it is an element of a list, which may have others.
	List bool
}

// Path is the keys in one word, as in history.keep.
func (s Setting) Path() string { return strings.Join(s.Keys, ".") }

// DecodeSettings reads a settings file, whose keys are those of o, and tells everything
// that is wrong with it, sorted by place. What could be read is given also where there
// are errors. An empty file has no settings.
func DecodeSettings(o *Object, file string, src []byte) ([]Setting, Diagnostics) {
	if len(strings.TrimSpace(string(src))) == 0 {
		return nil, nil
	}
	d := &decoder{src: newSource(file, src), root: o}
	var list []Setting
	if problem, bad := d.src.problem(); bad {
		d.report(problem)
	} else if root := d.parse(); root != nil && d.shape(root) {
		d.settings(o, nil, root, &list)
	}
	for i := range d.found { // the decoder speaks of what it mostly reads
		one := &d.found[i]
		one.Message = strings.Replace(one.Message, "the definition", "the file", 1)
		if one.Code == "second-document" {
			one.Hint = "remove the '---' line and what follows"
		}
	}
	found := slices.DeleteFunc(d.found.Sorted(), func(one Diagnostic) bool { return one.Code == "empty-file" }) // nothing but comments
	return list, found
}

// ParseSetting reads one value that does not stand in a file, as of an environment
// variable; from stands in diagnostics for the file.
func ParseSetting(f Field, from, value string) (any, Diagnostics) {
	d := &decoder{src: newSource(from, []byte(value)), root: NewObject(from, "", f)}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value, Line: 1, Column: 1}
	if f.Kind == KindText || f.Kind == KindTexts {
		n.Style = yaml.DoubleQuotedStyle
	}
	n.Tag = n.ShortTag()
	v, _ := d.settingValue(&f, n)
	for i := range d.found {
		d.found[i].Pos = Pos{File: from}
	}
	return v, d.found.Sorted()
}

// settings reads the values of a mapping and of those below it.
func (d *decoder) settings(o *Object, keys []string, n *yaml.Node, into *[]Setting) {
	n = deref(n)
	if n.Kind != yaml.MappingNode {
		d.wrongType(n, "a mapping of keys")
		return
	}
	content := d.merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		key, value := content[i], content[i+1]
		if key.Kind != yaml.ScalarNode || strings.HasPrefix(key.Value, "x-") {
			continue
		}
		f := o.Field(key.Value)
		if f == nil {
			if !o.open {
				d.unknownKey(o, key)
			}
			continue
		}
		d.path.push(key.Value)
		d.setting(f, append(slices.Clone(keys), f.Key), value, into)
		d.path.pop()
	}
}

// setting reads what stands at one key.
func (d *decoder) setting(f *Field, keys []string, n *yaml.Node, into *[]Setting) {
	n = deref(n)
	switch {
	case f.Kind == KindObject:
		d.settings(f.Of, keys, n, into)
	case f.Kind == KindObjectMap:
		d.eachKey(n, func(key, item *yaml.Node) { d.settings(f.Of, append(slices.Clone(keys), key.Value), item, into) })
	case f.Kind == KindTextMap:
		d.eachKey(n, func(key, item *yaml.Node) {
			d.one(&Field{Kind: KindText}, append(slices.Clone(keys), key.Value), item, false, into)
		})
	case f.Kind == KindTexts && n.Kind == yaml.SequenceNode:
		for i, item := range n.Content {
			d.path.pushIndex(i)
			d.one(f, keys, deref(item), true, into)
			d.path.pop()
		}
	default:
		d.one(f, keys, n, f.Kind == KindTexts, into)
	}
}

func (d *decoder) one(f *Field, keys []string, n *yaml.Node, list bool, into *[]Setting) {
	if v, ok := d.settingValue(f, n); ok {
		*into = append(*into, Setting{Keys: keys, Pos: d.pos(n), Value: v, List: list})
	}
}

// settingValue reads a scalar by the kind of its field.
func (d *decoder) settingValue(f *Field, n *yaml.Node) (v any, ok bool) {
	switch f.Kind {
	case KindBoolean:
		return d.boolean(n)
	case KindInteger:
		i, ok := within(f.Min, f.Max)(d, n)
		return int64(i), ok
	case KindDuration:
		var t time.Duration
		t, ok = d.duration(n)
		return t, ok
	case KindSize:
		return d.size(n)
	case KindChoice:
		return oneOf(f.Enum)(d, n)
	}
	t, ok := d.text(n)
	return t.S, ok
}

// SettingsSchema is the JSON Schema (draft-07, which editors read) of settings files
// whose keys are those of o, made from the table that also reads them.
func SettingsSchema(o *Object, title string) map[string]any {
	s := objectSchema(o)
	s["$schema"] = "http://json-schema.org/draft-07/schema#"
	s["title"] = title
	definitions := map[string]any{}
	define(o, definitions)
	if len(definitions) > 0 {
		s["definitions"] = definitions
	}
	return s
}

// ToolsProject is the project of a folder that has tools in .cycod and no folder
// .flowrun; "" where there is none. The tools in .cycod of the home are the user's.
func ToolsProject(dir, home string) string {
	tools := nearest(dir, filepath.Join(".cycod", "tools"))
	if tools == "" || tools == filepath.Join(home, ".cycod", "tools") {
		return ""
	}
	return ProjectOf(tools)
}

// ProjectRoot is the nearest folder from dir upwards that holds a folder .flowrun, not
// beyond the root of a repository; "" where there is none. One that others may write is
// passed over.
func ProjectRoot(dir string) string {
	if found := nearest(dir, ".flowrun"); found != "" {
		return filepath.Dir(found)
	}
	return ""
}
