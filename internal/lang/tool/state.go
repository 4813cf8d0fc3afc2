package tool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// StateKey is a value that a tool keeps between its runs.
type StateKey struct {
	Name        string
	Pos         Pos
	Type        string // as in JSON Schema
	Description string
	Default     json.RawMessage // before the first run that sets the value
	Merge       string          // "", last, max, min or append: what happens if another run has changed the value
	AtStep      bool            // the value is kept when a step ends that sets it, not when the run ends
}

// stateDraft is a StateKey that is being decoded.
type stateDraft struct {
	*StateKey
	defaultValue *Value
	short        Text // the type that was written in place of a mapping
}

func mergeNames() []string { return []string{"last", "max", "min", "append"} }

var stateObject = keytable.NewObject("a value of the state", "A value that the tool keeps between its runs.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("type", "", jsonTypes, "Type of the value.", func(k *stateDraft, v string) { k.Type = v }).WithDefault("string"),
		keytable.String("description", "", "What the value is.", func(k *stateDraft, v string) { k.Description = v }),
		keytable.AnyValue("default", "", "The value before a run has set it. Default: an empty text, 0, false, an empty array or an empty object.", func(k *stateDraft, v Value) { k.defaultValue = &v }),
		keytable.Choice("merge", "", mergeNames(), "What happens if another run has changed the value since this run read it: the later value counts (last), the larger (max), the smaller (min), or the elements of both (append). Without merge, the run fails.", func(k *stateDraft, v string) { k.Merge = v }),
		keytable.Choice("commit", "", []string{"run", "step"}, "When a value that a step sets is kept: when the run succeeds, or already when the step does.", func(k *stateDraft, v string) { k.AtStep = v == "step" }).WithDefault("run"),
	}
}).WithCheck(checkStateKey)

// stateField returns the field for the values that a tool keeps.
func stateField() keytable.Field {
	return keytable.NamedOrText("state", "", stateObject, "Values that the tool keeps between its runs, by name. {state.NAME} reads what the last successful run left; a step sets it in the file in $FLOWRUN_STATE. See state.md.",
		func(t *Draft, name string, p Pos) *stateDraft {
			k := addPointer(&t.State, &StateKey{Name: name, Pos: p, Type: "string"})
			return addPointer(&t.state, &stateDraft{StateKey: k})
		}, func(k *stateDraft, v Text) { k.Type, k.short = v.S, v }).WithTypes(jsonTypes...)
}

// checkStateKey checks one value of the state.
func checkStateKey(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	k := into.(*stateDraft)
	fail := func(part, code, message, hint string) {
		at := n
		if v := keytable.ValueOf(content, part); v != nil {
			at = v
		}
		d.Path.Push(part)
		defer d.Path.Pop()
		d.Fail(at, code, message, hint)
	}
	ordered := k.Type == "string" || k.Type == "number" || k.Type == "integer"
	switch {
	case k.Merge == "append" && k.Type != "array":
		fail("merge", "bad-merge", "merge: append needs type: array, but the type is "+k.Type, "write type: array, or another merge")
	case (k.Merge == "max" || k.Merge == "min") && !ordered:
		fail("merge", "bad-merge", "merge: "+k.Merge+" needs numbers or text, but the type is "+k.Type, "write type: integer, number or string, or another merge")
	case k.Merge == "append" && k.defaultValue != nil && len(k.defaultValue.List) > 0:
		fail("default", "bad-merge", "a value with merge: append begins as an empty array", "remove default")
	}
	if k.defaultValue == nil {
		return
	}
	v := k.defaultValue.As(k.Type)
	text, err := json.Marshal(v)
	if err != nil || v == nil {
		fail("default", "type-mismatch", fmt.Sprintf("the default of %s is %s, but its type is %s", diagnostic.Quote(k.Name), describeValue(*k.defaultValue), k.Type),
			"change the default or the type")
		return
	}
	k.Default = text
}

// emptyValue returns the default of a type.
func emptyValue(typ string) string {
	switch typ {
	case "integer", "number":
		return "0"
	case "boolean":
		return "false"
	case "array":
		return "[]"
	case "object":
		return "{}"
	}
	return `""`
}

// checkState checks the state of a tool as a whole.
func checkState(d *keytable.Decoder, t *Draft, content []*yaml.Node) {
	key := keytable.KeyOf(content, "state")
	if key == nil {
		return
	}
	d.Path.Push("state")
	defer d.Path.Pop()
	if v := keytable.Deref(keytable.ValueOf(content, "state")); v.Kind == yaml.MappingNode && len(v.Content) == 0 {
		d.Warn(key, "no-effect", "state has no values", "add a name and a type, such as LAST_ID: {type: integer}, or remove state")
	}
	for _, k := range t.state {
		if k.Default == nil {
			k.Default = json.RawMessage(emptyValue(k.Type))
		}
		if k.short.S != "" && !slices.Contains(jsonTypes, k.short.S) {
			reportAt(d, k.short.Pos, Error, "bad-choice", diagnostic.Printable(k.Name), fmt.Sprintf("%s is not a type", diagnostic.Quote(k.short.S)),
				"write a type: string, integer, number, boolean, array or object")
		}
		if !parameterName().MatchString(k.Name) || len(k.Name) > 128 {
			reportAt(d, k.Pos, Error, "bad-name", diagnostic.Printable(k.Name), fmt.Sprintf("%s cannot be the name of a value of the state", diagnostic.Quote(k.Name)),
				"use letters, digits, '_' and '-', beginning with a letter or '_', at most 128 characters")
		}
	}
	const root = "state"
	for _, p := range t.Parameters {
		if p.Name == root || strings.HasPrefix(p.Name, root+".") {
			reportAt(d, p.Pos, Error, "reserved-name", "", "\"state\" cannot be the name of a parameter in a tool that has state: {state...} is the state", "rename the parameter")
		}
	}
	for _, s := range t.Steps {
		if s.Name == root || strings.HasPrefix(s.Name, root+".") {
			reportAt(d, s.Pos, Error, "reserved-name", "", "\"state\" cannot be the name of a step in a tool that has state: {state...} is the state", "rename the step")
		}
	}
}

// StateKey returns the value of that name, nil if the tool does not keep it.
func (d *Definition) StateKey(name string) *StateKey {
	if i := slices.IndexFunc(d.State, func(k *StateKey) bool { return k.Name == name }); i >= 0 {
		return d.State[i]
	}
	return nil
}
