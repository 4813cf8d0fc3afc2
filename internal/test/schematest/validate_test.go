package schematest

import (
	"fmt"
	"testing"
)

// failures counts the errors that Validate reports.
type failures struct {
	testing.TB
	n int
}

func (f *failures) Helper()               {}
func (f *failures) Errorf(string, ...any) { f.n++ }

func TestValidate(t *testing.T) {
	const good = `"v":1,"seq":1,"kind":"step.started","node":"a","attempt":1,"time":"2026-11-21T08:00:00Z"`
	for _, c := range []struct {
		name, doc string
		valid     bool
	}{
		{"event", "{" + good + "}", true},
		{"event", "{" + good + `,"forgotten":1}`, false},
		{"event", `{"v":1,"seq":1,"kind":"step.started","node":"a","attempt":1,"time":"yesterday"}`, false},
		{"event", `{"v":1,"seq":1,"kind":"step.started","time":"2026-11-21T08:00:00Z"}`, false},
		{"event", `{"v":1,"seq":1,"kind":"step.invented","node":"a","time":"2026-11-21T08:00:00Z"}`, false},
		{"event", "{" + good + "} {}", false},
		{"event", "", false},
		{"diagnostics", `{"schema":"flowrun/diagnostics.v1","diagnostics":[]}`, true},
		{"diagnostics", `{"schema":"flowrun/run.v1","diagnostics":[]}`, false},
		{"runs", `{"schema":"flowrun/runs.v1","runs":[{"id":"r","tool":"t","status":"running","exit_code":0,"started":"2026-11-21T08:00:00Z","duration_ms":5}]}`, true},
		{"runs", `{"schema":"flowrun/runs.v1","runs":[{"id":"r","tool":"t","status":"lost","exit_code":0,"started":"2026-11-21T08:00:00Z","duration_ms":5}]}`, false},
		{"tool", `{"description":"d","bash":"echo","x-mine":{}}`, true},
		{"nothing", `{}`, false},
	} {
		t.Run(fmt.Sprintf("%s %s", c.name, c.doc), func(t *testing.T) {
			f := &failures{TB: t}
			Validate(f, c.name, []byte(c.doc))
			if (f.n == 0) != c.valid {
				t.Errorf("%d failures, want valid %v", f.n, c.valid)
			}
		})
	}
}

// TestValidatePart: the schema inside the document is used, closed.
func TestValidatePart(t *testing.T) {
	const document = `{"openapi":"3.1.0","info":{},"components":{"schemas":{
		"a/b":{"type":"object","properties":{"n":{"$ref":"#/components/schemas/n"}}},"n":{"type":"integer"}}}}`
	for doc, valid := range map[string]bool{`{"n":1}`: true, `{}`: true, `{"n":"x"}`: false, `{"m":1}`: false, `[]`: false} {
		f := &failures{TB: t}
		ValidatePart(f, []byte(document), "/components/schemas/a~1b", []byte(doc))
		if (f.n == 0) != valid {
			t.Errorf("%s: %d failures, want valid %v", doc, f.n, valid)
		}
	}
}
