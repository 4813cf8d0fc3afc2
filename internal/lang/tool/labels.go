package tool

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/label"
)

func labelsField() keytable.Field {
	f := keytable.TextMap("labels", "", "Labels of each run of the tool, by name, such as team: ops, to find its runs. They are stored and shown as they are written, without placeholders. See labels.md.",
		func(t *draft, v []Entry) { t.labels = v })
	set := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		set(d, into, n)
		into.(*draft).setLabels(d, n)
	}
	return f
}

// setLabels stores the labels that are valid, and reports the others.
func (t *draft) setLabels(d *keytable.Decoder, n *yaml.Node) {
	if len(t.labels) > label.Max {
		d.Fail(n, "bad-label", fmt.Sprintf("%d labels are too many", len(t.labels)), fmt.Sprintf("a tool has at most %d labels", label.Max))
	}
	t.Labels = make(map[string]string, len(t.labels))
	for _, e := range t.labels {
		value := e.Value.Text.S
		if err := label.Check(e.Key, value); err != nil {
			at, text := e.Value.Pos, value
			if label.CheckName(e.Key) != nil {
				at, text = e.Pos, e.Key
			}
			d.Report(Diagnostic{Code: "bad-label", Severity: Error, Pos: at, Len: max(1, len([]rune(text))), Path: d.Path.String() + "." + diagnostic.Printable(e.Key), Message: err.Error(), Hint: label.Rules})
			continue
		}
		t.Labels[e.Key] = value
	}
}
