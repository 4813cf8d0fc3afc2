package keytable

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// WrongType reports that a value is not of the wanted kind, with a hint how to write it.
func (d *Decoder) WrongType(n *yaml.Node, want string) {
	hint := FormHint(want)
	switch {
	case want == "text" && n.Kind == yaml.SequenceNode:
		hint = "write one text; this key does not take a list"
	case want == "a list" && n.Kind == yaml.MappingNode:
		hint = "begin it with '- ', as the first entry of a list"
	case want == "a mapping of names" && n.Kind == yaml.SequenceNode:
		hint = "write 'NAME: value' lines in place of the entries of the list"
	}
	d.wrongType(n, want, hint)
}

func (d *Decoder) wrongType(n *yaml.Node, want, hint string) {
	if IsPlaceholder(n) {
		d.reportUnquoted(n)
		return
	}
	d.Fail(n, "wrong-type", fmt.Sprintf("expected %s, found %s", want, Describe(n)), hint)
}

// FormHint explains how to write a value of the kind that WrongType expects.
func FormHint(want string) string {
	switch want {
	case "text":
		return "write it on one line, in quotes if it begins with a special character, or as a block after '|'"
	case "true or false":
		return "write true or false, without quotes"
	case "a whole number":
		return "write digits, without quotes"
	case "a duration":
		return `write milliseconds (5000) or a text with units ("1m30s")`
	case "a size":
		return "write bytes or a number with a unit: 10MB"
	case "a list":
		return "write [a, b], or one line for each value, beginning with '- '"
	case "a mapping of names":
		return "write 'NAME: value' lines, indented under this key"
	}
	return ""
}

// objectHint explains how to write an object that was given as another kind of value. Many people write only the value
// of its main key, such as the image of a container: the hint then shows the value under that key.
func (d *Decoder) objectHint(o *Object, n *yaml.Node) string {
	if f := mainField(o, n); f != nil && len(d.Path) > 0 && d.Path[len(d.Path)-1].key != "" {
		value := "[a, b]"
		if n.Kind == yaml.ScalarNode {
			value = scalarText(n)
		}
		return fmt.Sprintf("write %s: {%s: %s}", diagnostic.Printable(d.Path[len(d.Path)-1].key), f.Key, value)
	}
	keys := o.Keys()
	if len(keys) > 12 {
		return "write 'key: value' lines, indented under this key"
	}
	return "write 'key: value' lines, indented under this key; its keys are " + strings.Join(keys, ", ")
}

// mainField returns the field of an object for which a value was probably meant: the first that must be given, or else the
// first that can have the value. It returns nil if there is none.
func mainField(o *Object, n *yaml.Node) (found *Field) {
	for i := range o.Fields() {
		f := &o.Fields()[i]
		switch {
		case !f.mayHold(n):
		case f.Required, f.Kind == KindChoice:
			return f
		case found == nil && f.Kind != KindInteger && f.Key != "description":
			found = f
		}
	}
	return found
}

// mayHold reports whether a value can be that of the field.
func (f *Field) mayHold(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.SequenceNode:
		return f.Kind == KindTexts || f.Kind == KindValue && f.Required
	case f.Kind == KindChoice:
		return slices.Contains(f.Enum, n.Value)
	case n.Tag == "!!int":
		return f.Kind == KindInteger
	}
	return n.Tag == "!!str" && (f.Kind == KindText || f.Kind == KindTexts || f.Kind == KindValue && f.Required)
}

// scalarText returns a scalar as it can be written in a flow mapping, and shortened if it is long.
func scalarText(n *yaml.Node) string {
	if n.Tag == "!!int" {
		return diagnostic.Printable(n.Value)
	}
	return diagnostic.Quote(n.Value)
}
