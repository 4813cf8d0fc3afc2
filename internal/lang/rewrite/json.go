package rewrite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// NormalJSON returns a definition as indented JSON that loads as the same tool. YAML aliases and merge keys are
// expanded, a single text becomes a list where a list is allowed, environment gets its sections, and the name is added.
// Keys keep their order; comments are lost. The error is Diagnostics: the problems that prevent reading the file.
//
// A Markdown or JavaScript tool cannot be written this way because it contains code. For these, the result is a
// description that includes the source text.
func NormalJSON(def *tool.Definition) ([]byte, error) {
	if def.Format != "" {
		return marshalDefinitionDoc(def)
	}
	doc, err := documentOf(def)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, normalizeObject(tool.Keys(), keytable.Value{Map: withNameFirst(doc, def.Name)}).JSON(), "", "  "); err != nil {
		return nil, fmt.Errorf("cannot write a definition as JSON: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// normalizeObject normalizes a mapping that is described by an Object.
func normalizeObject(o *keytable.Object, v keytable.Value) keytable.Value {
	if v.Map == nil {
		return v
	}
	typed := o == tool.Keys().Field("parameters").Of && slices.ContainsFunc(v.Map, func(e keytable.Entry) bool {
		return e.Key == "type" && e.Value.Text != nil && (e.Value.Text.S == "number" || e.Value.Text.S == "boolean")
	})
	return mapEntries(v, func(e keytable.Entry) keytable.Value {
		f := o.Field(e.Key)
		if f == nil {
			return keepWritten(e.Value, false)
		}
		return normalizeField(f, e.Value, typed)
	})
}

// normalizeField normalizes the value of a key. typed means that values are used as numbers or booleans, not as texts.
func normalizeField(f *keytable.Field, v keytable.Value, typed bool) keytable.Value {
	object := func(v keytable.Value) keytable.Value { return normalizeObject(f.Of, v) }
	switch f.Kind {
	case keytable.KindText, keytable.KindChoice:
		return v.AsText()
	case keytable.KindTexts, keytable.KindChoices:
		return mapList(listOfOne(v), keytable.Value.AsText)
	case keytable.KindIntegers:
		return listOfOne(v)
	case keytable.KindTextMap:
		return mapEntries(v, func(e keytable.Entry) keytable.Value { return e.Value.AsText() })
	case keytable.KindObject:
		return object(v)
	case keytable.KindTextOrObject:
		return object(v.AsText())
	case keytable.KindObjects:
		return mapList(v, object)
	case keytable.KindChoiceOrObject:
		return object(v.AsText())
	case keytable.KindTextsOrObjects:
		return mapList(listOfOne(v), func(v keytable.Value) keytable.Value { return object(v.AsText()) })
	case keytable.KindObjectMap:
		return mapEntries(v, func(e keytable.Entry) keytable.Value { return object(e.Value) })
	case keytable.KindTextOrObjectMap:
		return mapEntries(v, func(e keytable.Entry) keytable.Value { return object(e.Value.AsText()) })
	case keytable.KindEnvironment:
		if !slices.ContainsFunc(v.Map, func(e keytable.Entry) bool { return f.Of.Field(e.Key) != nil }) && v.Map != nil {
			v = keytable.Value{Map: []keytable.Entry{{Key: "variables", Value: v}}}
		}
		return object(v)
	case keytable.KindMatrix:
		return object(v)
	case keytable.KindValue, keytable.KindValues, keytable.KindValueMap:
		return keepWritten(v, typed)
	}
	return v
}

func listOfOne(v keytable.Value) keytable.Value {
	if v.List != nil || v.Map == nil && v.Scalar == nil {
		return v
	}
	return keytable.Value{List: []keytable.Value{v}}
}

func mapList(v keytable.Value, f func(keytable.Value) keytable.Value) keytable.Value {
	if v.List == nil {
		return f(v)
	}
	list := make([]keytable.Value, len(v.List))
	for i, item := range v.List {
		list[i] = f(item)
	}
	return keytable.Value{List: list}
}

func mapEntries(v keytable.Value, f func(keytable.Entry) keytable.Value) keytable.Value {
	if v.Map == nil {
		return v
	}
	entries := make([]keytable.Entry, len(v.Map))
	for i, e := range v.Map {
		entries[i] = keytable.Entry{Key: e.Key, Value: f(e)}
	}
	return keytable.Value{Map: entries}
}

// keepWritten keeps the text of values that JSON would change: 0755 is not a valid JSON number, so it becomes a text, unless
// the value is used as a number anyway (typed).
func keepWritten(v keytable.Value, typed bool) keytable.Value {
	switch {
	case v.List != nil:
		return mapList(v, func(v keytable.Value) keytable.Value { return keepWritten(v, typed) })
	case v.Map != nil:
		return mapEntries(v, func(e keytable.Entry) keytable.Value { return keepWritten(e.Value, typed) })
	case !typed && !json.Valid([]byte(v.Written())):
		return v.AsText()
	}
	return v
}
