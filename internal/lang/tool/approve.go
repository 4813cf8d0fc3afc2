package tool

import (
	"fmt"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/jsonschema"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// Approve is a step that asks a person whether the run should continue.
type Approve struct {
	Pos       Pos
	Prompt    Text             // the question, a template
	Form      *dataschema.Form // nil: a yes or no is enough
	Timeout   time.Duration    // how long to wait for an answer; 0 = forever
	OnTimeout string           // what to do if there is no answer in time: "" or fail, reject, approve
	Hold      bool             // the run keeps its locks and its place among the active runs while it waits
}

// approveDraft is an Approve that is being decoded. It keeps the form as the file has it, until checkApprove compiles
// it.
type approveDraft struct {
	*Approve
	form []Entry
}

// textOr returns a field whose value is a mapping, or a text as the short form of one.
func textOr[T, V any](key, row string, of *keytable.Object, doc string, part func(*T) *V, short func(*V, Text)) keytable.Field {
	return keytable.Field{Kind: keytable.KindTextOrObject, Key: key, Requirement: row, Doc: doc, Of: of, Set: func(d *keytable.Decoder, into any, n *yaml.Node) {
		if n = keytable.Deref(n); n.Kind == yaml.MappingNode && !keytable.IsPlaceholder(n) {
			d.Object(of, part(into.(*T)), n)
		} else if t, ok := d.Text(n); ok {
			short(part(into.(*T)), t)
		}
	}}
}

func checkApprove(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	a := into.(*approveDraft)
	a.Pos = d.Pos(n)
	if keytable.ValueOf(content, "prompt") == nil {
		d.Fail(n, "no-prompt", "the approval has no question", "add 'prompt:' with the question to show")
	}
	if a.OnTimeout != "" && a.Timeout == 0 {
		d.FailKey(keytable.KeyOf(content, "on-timeout"), "no-effect", "on-timeout has no effect without timeout", "add 'timeout:' with the time to wait for an answer")
	}
	form := keytable.KeyOf(content, "form")
	if form == nil || a.form == nil {
		return
	}
	d.Path.Push("form")
	defer d.Path.Pop()
	var bad []jsonschema.Problem
	a.Form, bad = dataschema.CompileForm(Value{Map: a.form}.JSON())
	for _, p := range bad {
		at, part := positionIn(Value{Pos: d.Pos(keytable.ValueOf(content, "form")), Map: a.form}, p.Path)
		reportAt(d, at, Error, "bad-form", part, p.Message, "write a JSON Schema with properties, such as properties: {NAME: {type: string}}")
	}
	if a.OnTimeout != "approve" || a.Form == nil || bad != nil {
		return
	}
	for _, p := range a.Form.Check(a.Form.Defaults()) {
		reportAt(d, d.Pos(form), Error, "bad-form", "", fmt.Sprintf("on-timeout: approve uses the default values, but %s %s", diagnostic.Quote(p.Field), p.Message), "give it a default, or use on-timeout: reject")
	}
}

// positionIn returns the position of the value that path leads to, and the part of the path that exists in v.
func positionIn(v Value, path []string) (at Pos, part string) {
	at = v.Pos
	for i, name := range path {
		k := slices.IndexFunc(v.Map, func(e Entry) bool { return e.Key == name })
		if k < 0 {
			break
		}
		v, at, part = v.Map[k].Value, v.Map[k].Pos, dataschema.FormatPath(path[:i+1])
	}
	return at, part
}
