package tool

import (
	"fmt"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// checkAlternatives reports parameters whose deprecated-alternative is not another parameter.
func checkAlternatives(d *keytable.Decoder, list []*Parameter) {
	for _, p := range list {
		use := p.DeprecatedAlternative
		if use.Pos.Line == 0 {
			continue
		}
		var others []string
		found := false
		for _, other := range list {
			if other != p {
				others = append(others, other.Name)
				found = found || other.Name == use.S
			}
		}
		if found {
			continue
		}
		one := Diagnostic{Code: "unknown-alternative", Severity: Warning, Pos: use.Pos, Len: len([]rune(use.S)),
			Path:    "parameters." + diagnostic.Printable(p.Name) + ".deprecated-alternative",
			Message: fmt.Sprintf("%s, the alternative to %s, is not another parameter of the tool", diagnostic.Quote(use.S), diagnostic.Quote(p.Name)),
			Hint:    hintOrList(diagnostic.DidYouMean(use.S, others), "parameters: ", others)}
		if near := diagnostic.Near(use.S, others); len(near) == 1 && !d.Full() {
			one.Fix = d.Src.Rename(use.Pos, use.S, near[0])
		}
		d.Report(one)
	}
}
