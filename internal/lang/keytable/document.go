package keytable

import (
	"strings"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// DecodeData reads a YAML or JSON document whose keys are in no table, such as parameters of a run.
// Its problems are sorted by place; without errors among them, the value is complete.
func DecodeData(file string, src []byte) (Value, diagnostic.Diagnostics) {
	d := &Decoder{Src: diagnostic.NewSource(file, src)}
	var v Value
	if problem, bad := d.Src.Problem(); bad {
		d.Report(problem)
	} else if root := d.Parse(); root != nil && d.Shape(root) {
		v, _ = d.Value(root)
	}
	for i := range d.Found { // the caller says what it cannot read
		for _, begin := range []string{"cannot read the definition: ", "cannot read this value: "} {
			d.Found[i].Message = strings.TrimPrefix(d.Found[i].Message, begin)
		}
	}
	return v, d.Found.Sorted()
}
