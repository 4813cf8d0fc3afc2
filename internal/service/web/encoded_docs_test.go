package web

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestEncodedDocs checks that the graph of a plan is placed once, and that what is kept is bounded.
func TestEncodedDocs(t *testing.T) {
	plan := func(steps int) *engine.Plan {
		t.Helper()
		var text strings.Builder
		text.WriteString("name: many\nsteps:\n")
		for i := range steps {
			fmt.Fprintf(&text, "  - {name: s%d, bash: 'true'}\n", i)
		}
		def, _ := tool.DecodeDocument("many.yaml", []byte(text.String()))
		p, err := engine.CompileDefinition(library.New(library.Config{}), def)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	g := encodedDocs[engine.Plan]{max: 100_000}
	encodings := 0
	of := func(p *engine.Plan) []byte {
		t.Helper()
		doc, err := g.of(p, func() ([]byte, error) { encodings++; return encodeJSON(graphOf(p)) })
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	first := plan(2)
	doc := of(first)
	if again := of(first); &again[0] != &doc[0] || encodings != 1 || !strings.Contains(string(doc), `"from":"s0","to":"s1"`) {
		t.Errorf("%s", doc)
	}
	var plans []*engine.Plan // stay in use
	for bytes := 0; bytes < 2*g.max; bytes += len(of(plans[len(plans)-1])) {
		plans = append(plans, plan(100))
		kept := 0
		for _, doc := range g.docs {
			kept += len(doc.text)
		}
		if kept != g.bytes || kept > g.max {
			t.Fatalf("%d bytes are kept, and %d counted", kept, g.bytes)
		}
	}
	if len(g.docs) >= len(plans) {
		t.Errorf("%d graphs of %d are kept", len(g.docs), len(plans))
	}
}
