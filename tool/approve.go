package tool

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/jsonschema"
)

// Approve asks a person whether a run goes on.
type Approve struct {
	Pos       Pos
	Prompt    Text          // a template
	Form      *Form         // nil: yes or no is all
	Timeout   time.Duration // how long to wait for an answer; 0 = for ever
	OnTimeout string        // what then: "" or fail, reject, approve
}

// approveDraft is an Approve being read, with its form as it is written.
type approveDraft struct {
	*Approve
	form []Entry
}

// textOr is a mapping, or a text that stands for one.
func textOr[T, V any](key, row string, of *Object, doc string, part func(*T) *V, short func(*V, Text)) Field {
	return Field{Kind: KindTextOrObject, Key: key, Row: row, Doc: doc, Of: of, set: func(d *decoder, into any, n *yaml.Node) {
		if n = deref(n); n.Kind == yaml.MappingNode && !isHole(n) {
			d.object(of, part(into.(*T)), n)
		} else if t, ok := d.text(n); ok {
			short(part(into.(*T)), t)
		}
	}}
}

func checkApprove(d *decoder, into any, n *yaml.Node, content []*yaml.Node) {
	a := into.(*approveDraft)
	a.Pos = d.pos(n)
	if valueOf(content, "prompt") == nil {
		d.fail(n, "no-prompt", "the approval does not say what is asked", "add 'prompt:', the question that a person reads")
	}
	if a.OnTimeout != "" && a.Timeout == 0 {
		d.failKey(keyOf(content, "on-timeout"), "no-effect", "on-timeout has no effect without timeout", "add 'timeout:', how long to wait for an answer")
	}
	form := keyOf(content, "form")
	if form == nil || a.form == nil {
		return
	}
	d.path.push("form")
	defer d.path.pop()
	var bad []jsonschema.Problem
	a.Form, bad = parseForm(jsonOf(Value{Map: a.form}))
	for _, p := range bad {
		at, part := placeIn(Value{Pos: d.pos(valueOf(content, "form")), Map: a.form}, p.Path)
		d.reportAt(at, Error, "bad-form", part, p.Message, "a form is a JSON Schema with properties: {NAME: {type: string}}")
	}
	if a.OnTimeout != "approve" || a.Form == nil || bad != nil {
		return
	}
	for _, p := range a.Form.Check(a.Form.Defaults()) {
		d.reportAt(d.pos(form), Error, "bad-form", "", fmt.Sprintf("on-timeout: approve takes the defaults, and %s %s", quote(p.Field), p.Message), "give it a default, or use on-timeout: reject")
	}
}

// placeIn is the place of what a path leads to, as far as that is there.
func placeIn(v Value, path []string) (at Pos, part string) {
	at = v.Pos
	for i, name := range path {
		k := slices.IndexFunc(v.Map, func(e Entry) bool { return e.Key == name })
		if k < 0 {
			break
		}
		v, at, part = v.Map[k].Value, v.Map[k].Pos, valuePath(path[:i+1])
	}
	return at, part
}

// jsonOf writes a value as JSON, its mappings in the order in which they are written.
func jsonOf(v Value) []byte {
	var b bytes.Buffer
	writeJSON(&b, v)
	return b.Bytes()
}
