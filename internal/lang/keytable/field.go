package keytable

import (
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// ValueKind is the kind of a key's value.
type ValueKind string

const (
	KindText        ValueKind = "text"     // a string; numbers and booleans keep their text in the file
	KindTexts       ValueKind = "texts"    // a list of texts; a single text is a list of one
	KindChoice      ValueKind = "choice"   // one of Field.Enum
	KindChoices     ValueKind = "choices"  // a list of choices; a single one is a list of one
	KindBoolean     ValueKind = "boolean"  // true or false
	KindInteger     ValueKind = "integer"  // from Field.Min to Field.Max
	KindIntegers    ValueKind = "integers" // a list of integers; a single one is a list of one
	KindNumber      ValueKind = "number"
	KindDuration    ValueKind = "duration"    // milliseconds, or text such as 1m30s
	KindSize        ValueKind = "size"        // bytes, or text such as 10MB
	KindValue       ValueKind = "value"       // any value
	KindValues      ValueKind = "values"      // a list of any values
	KindValueMap    ValueKind = "value map"   // names to any values
	KindTextMap     ValueKind = "text map"    // names to texts
	KindObject      ValueKind = "object"      // a mapping described by Field.Of
	KindObjects     ValueKind = "objects"     // a list of such mappings
	KindObjectMap   ValueKind = "object map"  // names to such mappings
	KindEnvironment ValueKind = "environment" // Field.Of, or names to texts
	KindMatrix      ValueKind = "matrix"      // Field.Of, and names to lists of any values

	KindTextOrObject    ValueKind = "text or object"     // a text, or Field.Of
	KindTextOrObjectMap ValueKind = "text or object map" // names to texts and to such mappings

	KindChoiceOrObject ValueKind = "choice or object" // one of Field.Enum, or a mapping described by Field.Of
	KindTextsOrObjects ValueKind = "texts or objects" // a list of texts and of mappings described by Field.Of; a single one is a list of one
)

// Object describes one kind of mapping in a definition: a tool, a step, a retry.
type Object struct {
	Name string // with its article, for messages: "a step"
	Doc  string

	fields *fields
	hints  []keyHint // of unknown keys, see WithHint
	oneOf  []string  // only for the JSON Schema: keys of which exactly one must be there
	open   bool      // of settings: unknown keys are allowed, because they belong to other programs
	// check checks the mapping as a whole, after its keys were decoded.
	check func(d *Decoder, into any, n *yaml.Node, content []*yaml.Node)
}

// Field describes one key of an Object. All fields but Set are data, from which the JSON Schema and the reference page
// are generated.
type Field struct {
	Key         string
	Kind        ValueKind
	Enum        []string // of choices
	Default     string   // as it would be written in the file; empty = none
	Doc         string   // one sentence
	Requirement string   // its id in docs/reference/requirements.md, if it has one
	Of          *Object  // of objects
	Min, Max    int64    // of integers
	Least       float64  // of numbers: the minimum; 0 = none
	Body        bool     // one of the keys of which a step or tool has exactly one
	Required    bool
	Command     bool     // of texts: a command or a script, which is not empty
	Short       string   // of object maps in settings: the key of Of that a scalar stands for; "" = none
	Foreign     *Foreign // of settings: how other programs write it; nil = as flowrun does

	InSeconds bool // of durations in settings: a number below 1000 is in seconds, and not in milliseconds

	// Only for the JSON Schema: the decoder leaves these to the check of the object.
	Form     func() *regexp.Regexp // of texts: what they match; of object maps: what the names match; nil = anything
	Needs    []string              // keys of which one must be there too; nil = none
	Excludes []string              // keys that must not be there too
	Types    []string              // of values: the types of JSON that they have; of text or object maps: what the texts are; nil = any
	AnyWith  string                // with this key in the object, the texts may be any, not only Types; "" = never

	Set func(d *Decoder, into any, n *yaml.Node)
}

// NewObject describes a mapping with the fields that list returns. list is called when the first field is requested: a
// program has many objects and reads few of them. For settings files, only the data of a field is used, not Set. Their kinds are text, texts, choice, boolean, integer, duration, size, text map, object
// and object map.
func NewObject(name, doc string, list func() []Field) *Object {
	return &Object{Name: name, Doc: doc, fields: &fields{list: list}}
}

// Open returns a copy of the object for files that flowrun shares with other programs: it allows unknown keys, and values as
// these programs write them (see Foreign).
func (o *Object) Open() *Object {
	open := *o
	open.open = true
	return &open
}

// Add adds fields to the object, before the first is requested. It is for objects that contain themselves.
func (o *Object) Add(list func() []Field) {
	before := o.fields.list
	o.fields.list = func() []Field { return append(before(), list()...) }
}

// WithCheck sets a function that checks the mapping as a whole, after its keys were decoded.
func (o *Object) WithCheck(check func(d *Decoder, into any, n *yaml.Node, content []*yaml.Node)) *Object {
	o.check = check
	return o
}

// WithOneOf names keys of which the mapping has exactly one. The check of the object has to report it.
func (o *Object) WithOneOf(keys ...string) *Object {
	o.oneOf = keys
	return o
}

// ExactlyOne returns the keys of which the object must have exactly one: its bodies, or those of WithOneOf. nil means none.
func (o *Object) ExactlyOne() []string {
	if bodies := o.BodyKeys(); bodies != nil {
		return bodies
	}
	return o.oneOf
}

// WithHint sets what to write instead of a key that the object does not have. The hint can depend on the value.
func (o *Object) WithHint(key string, hint func(value *yaml.Node) string) *Object {
	o.hints = append(o.hints, keyHint{key, hint})
	return o
}

// keyHint is what to write instead of a key. A list of a few is cheaper to make than a map, before main.
type keyHint struct {
	key string
	of  func(value *yaml.Node) string
}

// hint returns the hint of a key, nil if it has none.
func (o *Object) hint(key string) func(value *yaml.Node) string {
	for _, h := range o.hints {
		if h.key == key {
			return h.of
		}
	}
	return nil
}

// FixedHint returns a hint for WithHint that does not depend on the value.
func FixedHint(text string) func(*yaml.Node) string {
	return func(*yaml.Node) string { return text }
}

// Field returns the field of a key, or nil if the object has no such key.
func (o *Object) Field(key string) *Field { return o.fields.make().byKey[key] }

// Fields returns the fields of the object. Do not modify them.
func (o *Object) Fields() []Field { return o.fields.make().all }

// fields are the fields of an object. They are made once.
type fields struct {
	list  func() []Field
	once  sync.Once
	all   []Field
	byKey map[string]*Field
}

func (f *fields) make() *fields {
	f.once.Do(func() {
		f.all = f.list()
		f.byKey = make(map[string]*Field, len(f.all))
		for i := range f.all {
			f.byKey[f.all[i].Key] = &f.all[i]
		}
	})
	return f
}

// Keys returns the keys of the object, in the order of its fields.
func (o *Object) Keys() []string {
	keys := make([]string, len(o.Fields()))
	for i, f := range o.Fields() {
		keys[i] = f.Key
	}
	return keys
}

// BodyKeys returns the keys of which an object must have exactly one.
func (o *Object) BodyKeys() (keys []string) {
	for _, f := range o.Fields() {
		if f.Body {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// Misspells reports whether an unknown key in the content of a mapping was probably meant as one of the wanted keys.
// The error about the unknown key is then enough: the wanted key is not missing.
func (o *Object) Misspells(content []*yaml.Node, wanted ...string) bool {
	for i := 0; i < len(content); i += 2 {
		key := content[i].Value
		if o.Field(key) != nil {
			continue
		}
		meant := append(diagnostic.Near(key, o.Keys()), foreignKey(key))
		if slices.ContainsFunc(wanted, func(w string) bool { return slices.Contains(meant, w) }) {
			return true
		}
	}
	return false
}

// around returns the names of the objects that have a key and are near an object below root: root itself, and those that
// directly contain the object or are directly in it. The same word in an unrelated object means something else.
func (root *Object) around(o *Object, key string) (names []string) {
	add := func(near *Object) {
		if near.Field(key) != nil && !slices.Contains(names, near.Name) {
			names = append(names, near.Name)
		}
	}
	add(root)
	for parent := range root.all() {
		for _, f := range parent.Fields() {
			switch {
			case f.Of == nil:
			case f.Of == o:
				add(parent)
			case parent == o:
				add(f.Of)
			}
		}
	}
	return names
}

// objectsWith returns the names of the objects below o that have a key.
func (o *Object) objectsWith(key string) (found []string) {
	for below := range o.all() {
		if below.Field(key) != nil && !slices.Contains(found, below.Name) {
			found = append(found, below.Name)
		}
	}
	return found
}

// all returns o and the objects below it, each once.
func (o *Object) all() iter.Seq[*Object] {
	return func(yield func(*Object) bool) {
		seen := map[*Object]bool{}
		var visit func(o *Object) bool
		visit = func(o *Object) bool {
			if seen[o] {
				return true
			}
			seen[o] = true
			if !yield(o) {
				return false
			}
			for _, f := range o.Fields() {
				if f.Of != nil && !visit(f.Of) {
					return false
				}
			}
			return true
		}
		visit(o)
	}
}

// The table of keys is written with the functions below, one for each kind of value. Their parameters are the key, its
// id in docs/reference/requirements.md, its description, and a function that stores the value.

// WithDefault returns the field with a default, as it would be written in the file.
func (f Field) WithDefault(value string) Field { f.Default = value; return f }

// WithForm returns the field with a form of its text, or of the names in its mapping.
func (f Field) WithForm(form func() *regexp.Regexp) Field { f.Form = form; return f }

// WithNeeds returns the field as one that has no effect without one of other keys.
func (f Field) WithNeeds(keys ...string) Field { f.Needs = keys; return f }

// WithExcludes returns the field as one that cannot be there with any of other keys.
func (f Field) WithExcludes(keys ...string) Field { f.Excludes = keys; return f }

// WithTypes returns the field with the types that its values, or its texts, may have.
func (f Field) WithTypes(types ...string) Field { f.Types = types; return f }

// WithAnyTextBeside returns the field with texts that need not be one of its types if the object has another key.
func (f Field) WithAnyTextBeside(key string) Field { f.AnyWith = key; return f }

// AsBody returns the field as one of those of which an object must have exactly one.
func (f Field) AsBody() Field { f.Body = true; return f }

// AsRequired returns the field as one that must be given.
func (f Field) AsRequired() Field { f.Required = true; return f }

// newField returns a Field made of a function that reads the value and one that stores it.
func newField[T, V any](kind ValueKind, key, requirement, doc string, read func(*Decoder, *yaml.Node) (V, bool), set func(*T, V)) Field {
	return Field{Kind: kind, Key: key, Requirement: requirement, Doc: doc, Set: func(d *Decoder, into any, n *yaml.Node) {
		if v, ok := read(d, n); ok {
			set(into.(*T), v)
		}
	}}
}

// Text is a text.
func Text[T any](key, requirement, doc string, set func(*T, diagnostic.Text)) Field {
	return newField(KindText, key, requirement, doc, (*Decoder).Text, set)
}

// String is Text for values whose position is not needed later.
func String[T any](key, requirement, doc string, set func(*T, string)) Field {
	return Text(key, requirement, doc, func(into *T, t diagnostic.Text) { set(into, t.S) })
}

// Texts is a list of texts.
func Texts[T any](key, requirement, doc string, set func(*T, []diagnostic.Text)) Field {
	return newField(KindTexts, key, requirement, doc, listOf((*Decoder).Text), set)
}

// Strings is Texts for values whose positions are not needed later.
func Strings[T any](key, requirement, doc string, set func(*T, []string)) Field {
	return Texts(key, requirement, doc, func(into *T, ts []diagnostic.Text) { set(into, stringsOf(ts)) })
}

// Choice is a text that must be one of enum.
func Choice[T any](key, requirement string, enum []string, doc string, set func(*T, string)) Field {
	f := newField(KindChoice, key, requirement, doc, OneOf(enum), set)
	f.Enum = enum
	return f
}

// Choices is a list of texts, each one of enum.
func Choices[T any](key, requirement string, enum []string, doc string, set func(*T, []string)) Field {
	f := newField(KindChoices, key, requirement, doc, listOf(OneOf(enum)), set)
	f.Enum = enum
	return f
}

// Boolean is true or false.
func Boolean[T any](key, requirement, doc string, set func(*T, bool)) Field {
	return newField(KindBoolean, key, requirement, doc, (*Decoder).boolean, set)
}

// Integer is a whole number from low to high.
func Integer[T any](key, requirement string, low, high int64, doc string, set func(*T, int)) Field {
	f := newField(KindInteger, key, requirement, doc, integerIn(low, high), set)
	f.Min, f.Max = low, high
	return f
}

// Integers is a list of whole numbers from low to high.
func Integers[T any](key, requirement string, low, high int64, doc string, set func(*T, []int)) Field {
	f := newField(KindIntegers, key, requirement, doc, listOf(integerIn(low, high)), set)
	f.Min, f.Max = low, high
	return f
}

// Number is a number.
func Number[T any](key, requirement, doc string, set func(*T, float64)) Field {
	return newField(KindNumber, key, requirement, doc, (*Decoder).number, set)
}

// Amount is a number that is at least least, which is greater than 0.
func Amount[T any](key, requirement string, least float64, doc string, set func(*T, float64)) Field {
	f := newField(KindNumber, key, requirement, doc, numberFrom(least), set)
	f.Least = least
	return f
}

// Duration is a duration: milliseconds, or text such as 1m30s.
func Duration[T any](key, requirement, doc string, set func(*T, time.Duration)) Field {
	return newField(KindDuration, key, requirement, doc, (*Decoder).duration, set)
}

// Size is a number of bytes, or text such as 10MB.
func Size[T any](key, requirement, doc string, set func(*T, int64)) Field {
	return newField(KindSize, key, requirement, doc, (*Decoder).size, set)
}

// AnyValue is any value.
func AnyValue[T any](key, requirement, doc string, set func(*T, Value)) Field {
	return newField(KindValue, key, requirement, doc, (*Decoder).Value, set)
}

// AnyValues is a list of any values.
func AnyValues[T any](key, requirement, doc string, set func(*T, []Value)) Field {
	return newField(KindValues, key, requirement, doc, (*Decoder).values, set)
}

// ValueMap is a mapping of names to any values, in the order of the file.
func ValueMap[T any](key, requirement, doc string, set func(*T, []Entry)) Field {
	return newField(KindValueMap, key, requirement, doc, (*Decoder).entries, set)
}

// TextMap is a mapping of names to texts, in the order of the file.
func TextMap[T any](key, requirement, doc string, set func(*T, []Entry)) Field {
	return newField(KindTextMap, key, requirement, doc, (*Decoder).textEntries, set)
}

// Nested is a mapping that is stored in a part of its parent.
func Nested[T, V any](key, requirement string, of *Object, doc string, part func(*T) *V) Field {
	return Field{Kind: KindObject, Key: key, Requirement: requirement, Doc: doc, Of: of, Set: func(d *Decoder, into any, n *yaml.Node) {
		d.Object(of, part(into.(*T)), n)
	}}
}

// List is a list of mappings. add creates the value for an entry.
func List[T, V any](key, requirement string, of *Object, doc string, add func(*T, diagnostic.Pos) *V) Field {
	return Field{Kind: KindObjects, Key: key, Requirement: requirement, Doc: doc, Of: of, Set: func(d *Decoder, into any, n *yaml.Node) {
		n = Deref(n)
		if n.Kind != yaml.SequenceNode {
			d.WrongType(n, "a list")
			return
		}
		for i, item := range n.Content {
			d.Path.pushIndex(i)
			d.Object(of, add(into.(*T), d.Pos(item)), item)
			d.Path.Pop()
			d.release(item)
		}
	}}
}

// Mixed is a list whose entries are mappings, or texts as the short form of a mapping. add creates the value for an
// entry.
func Mixed[T, V any](key, requirement string, of *Object, doc string, add func(*T) *V, short func(*V, diagnostic.Text)) Field {
	return Field{Kind: KindTextsOrObjects, Key: key, Requirement: requirement, Doc: doc, Of: of, Set: func(d *Decoder, into any, n *yaml.Node) {
		one := func(n *yaml.Node) {
			if n = Deref(n); n.Kind == yaml.MappingNode && !IsPlaceholder(n) {
				d.Object(of, add(into.(*T)), n)
			} else if t, ok := d.Text(n); ok {
				short(add(into.(*T)), t)
			}
		}
		if n = Deref(n); n.Kind != yaml.SequenceNode {
			one(n)
			return
		}
		for i, item := range n.Content {
			d.Path.pushIndex(i)
			one(item)
			d.Path.Pop()
		}
	}}
}

// Named is a mapping of names to mappings. add creates the value for a name.
func Named[T, V any](key, requirement string, of *Object, doc string, add func(*T, string, diagnostic.Pos) *V) Field {
	return Field{Kind: KindObjectMap, Key: key, Requirement: requirement, Doc: doc, Of: of, Set: func(d *Decoder, into any, n *yaml.Node) {
		d.eachKey(n, func(key, item *yaml.Node) {
			d.Object(of, add(into.(*T), key.Value, d.Pos(key)), item)
		})
	}}
}

// NamedOrText is a mapping of names to mappings, or to texts as the short form of one. add creates the value for a name.
func NamedOrText[T, V any](key, requirement string, of *Object, doc string, add func(*T, string, diagnostic.Pos) *V, short func(*V, diagnostic.Text)) Field {
	return Field{Kind: KindTextOrObjectMap, Key: key, Requirement: requirement, Doc: doc, Of: of, Set: func(d *Decoder, into any, n *yaml.Node) {
		d.eachKey(n, func(key, item *yaml.Node) {
			v := add(into.(*T), key.Value, d.Pos(key))
			if item = Deref(item); item.Kind == yaml.MappingNode && !IsPlaceholder(item) {
				d.Object(of, v, item)
			} else if t, ok := d.Text(item); ok {
				short(v, t)
			}
		})
	}}
}

// eachKey calls f for each key of a mapping of names, with the path set.
func (d *Decoder) eachKey(n *yaml.Node, f func(key, value *yaml.Node)) {
	n = Deref(n)
	if n.Kind != yaml.MappingNode {
		d.WrongType(n, "a mapping of names")
		return
	}
	content := d.Merged(n)
	for i := 0; i+1 < len(content); i += 2 {
		if content[i].Kind == yaml.ScalarNode {
			d.Path.Push(content[i].Value)
			f(content[i], content[i+1])
			d.Path.Pop()
		}
	}
}

// listOf returns a function that reads a list, using read for its items. A single item is a list of one.
func listOf[V any](read func(*Decoder, *yaml.Node) (V, bool)) func(*Decoder, *yaml.Node) ([]V, bool) {
	return func(d *Decoder, n *yaml.Node) ([]V, bool) {
		n = Deref(n)
		if n.Kind != yaml.SequenceNode {
			v, ok := read(d, n)
			return []V{v}, ok
		}
		all := make([]V, 0, len(n.Content))
		for i, item := range n.Content {
			d.Path.pushIndex(i)
			if v, ok := read(d, item); ok {
				all = append(all, v)
			}
			d.Path.Pop()
		}
		return all, true
	}
}

// foreignChoices maps values that other programs use to the values of flowrun.
var foreignChoices = map[string]string{
	"bool": "boolean", "int": "number", "integer": "number", "float": "number", "double": "number",
	"str": "string", "text": "string", "list": "array", "dict": "object", "map": "object",
}

// SuggestChoice returns a did-you-mean for a value that is not one of enum, or "".
func SuggestChoice(value string, enum []string) string {
	ours := foreignChoices[value]
	if value == "int" && slices.Contains(enum, "integer") {
		ours = "integer"
	}
	if slices.Contains(enum, ours) {
		return diagnostic.Suggestion([]string{ours})
	}
	return diagnostic.DidYouMean(value, enum)
}

// OneOf returns a function that reads a text that must be one of enum.
func OneOf(enum []string) func(*Decoder, *yaml.Node) (string, bool) {
	return func(d *Decoder, n *yaml.Node) (string, bool) {
		t, ok := d.Text(n)
		if !ok || slices.Contains(enum, t.S) {
			return t.S, ok
		}
		all := strings.Join(enum, ", ")
		hint := "use one of: " + all
		if ask := SuggestChoice(t.S, enum); ask != "" {
			hint = ask + " (" + all + ")"
		}
		d.Fail(Deref(n), "bad-choice", fmt.Sprintf("unknown value %s", diagnostic.Quote(t.S)), hint)
		return "", false
	}
}

func stringsOf(ts []diagnostic.Text) []string {
	all := make([]string, len(ts))
	for i, t := range ts {
		all[i] = t.S
	}
	return all
}

// FieldsOf returns the given fields of another object, for use in T: they set the part of T that has type V. The order
// is that of the other object.
func FieldsOf[T, V any](o *Object, part func(*T) *V, keys ...string) []Field {
	var all []Field
	for _, f := range o.Fields() {
		for _, key := range keys {
			if f.Key == key {
				set := f.Set
				f.Set = func(d *Decoder, into any, n *yaml.Node) { set(d, part(into.(*T)), n) }
				all = append(all, f)
			}
		}
	}
	return all
}
