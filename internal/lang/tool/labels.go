package tool

import (
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/label"
)

// labelsField returns the field labels of a mapping.
func labelsField[T any](doc string, labels func(*T) *map[string]string) keytable.Field {
	f := keytable.TextMap("labels", "", doc, func(written *[]Entry, v []Entry) { *written = v })
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		var written []Entry
		read(d, &written, n)
		*labels(into.(*T)) = validLabels(d, n, written)
	}
	return f
}

// validLabels returns the labels that are valid, and reports the others.
func validLabels(d *keytable.Decoder, n *yaml.Node, written []Entry) map[string]string {
	if len(written) > label.Max {
		d.Fail(n, "bad-label", fmt.Sprintf("%d labels are too many", len(written)), fmt.Sprintf("write at most %d labels", label.Max))
	}
	labels := make(map[string]string, len(written))
	for _, e := range written {
		value := e.Value.Text.S
		if err := label.Check(e.Key, value); err != nil {
			at, text := e.Value.Pos, value
			if label.CheckName(e.Key) != nil {
				at, text = e.Pos, e.Key
			}
			d.Report(Diagnostic{Code: "bad-label", Severity: Error, Pos: at, Len: max(1, len([]rune(text))), Path: d.Path.String() + "." + diagnostic.Printable(e.Key), Message: err.Error(), Hint: label.Rules})
			continue
		}
		labels[e.Key] = value
	}
	return labels
}
