package tool

import (
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/schemaparams"
)

// withSchema returns the field of parameters so that it recognizes those that are written as a JSON Schema. They are one
// error, and are read as what they mean, so that references to them are not errors too.
func withSchema(f keytable.Field) keytable.Field {
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if r, ok := schemaparams.Convert(keytable.Deref(n)); ok {
			one := d.Diagnostic(n, Error, "schema-parameters", "the parameters are written as a JSON Schema",
				"write each parameter by its name, as in NAME: {type: string, description: ..., required: true}, and rules such as enum under validation")
			one.Fix = schemaparams.Edit(d.Src, n, r)
			d.Report(one)
			n = r.Node
		}
		read(d, into, n)
	}
	return f
}
