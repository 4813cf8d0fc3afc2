package registry_test

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// TestOutputSchema checks that an output that does not match the declared schema is an error of the call.
func TestOutputSchema(t *testing.T) {
	schema, err := dataschema.ParseOutput([]byte(`{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		result any
		want   string // in the text for the model
		failed bool
	}{
		"an object":               {map[string]any{"n": 1}, `{"n":1}`, false},
		"a text that is one":      {"\n{\"n\": 12345678901234567890}\n", `12345678901234567890`, false},
		"another type":            {map[string]any{"n": "x"}, "n: ", true},
		"a property is missing":   {map[string]any{}, "n: ", true},
		"not an object":           {"done", "it is not a JSON object", true},
		"several objects":         {`{"n":1}{"n":2}`, "it is not a JSON object", true},
		"content of its own form": {&flowrun.Content{Parts: []flowrun.Part{{Text: "a"}, {Text: "b"}}}, "it is not a JSON object", true},
	} {
		t.Run(name, func(t *testing.T) {
			lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
			if err := lib.Add(flowrun.GoTool{Name: "count", Description: "d", OutputSchema: schema,
				Run: func(context.Context, *flowrun.StepInput) (any, error) { return c.result, nil }}.Definition()); err != nil {
				t.Fatal(err)
			}
			a := newCaller(lib, options{decide: all}).call(t.Context(), "count", "{}")
			if (a.Error != nil) != c.failed || !strings.Contains(a.Content.Text(), c.want) {
				t.Fatalf("%+v, %q", a.Error, a.Content.Text())
			}
			holds(t, a)
			if !c.failed {
				return
			}
			if a.Status != registry.Failed || a.Error.Code != outcome.AnswerFailed || !strings.Contains(a.Content.Text(), a.Error.Message) {
				t.Errorf("%s %+v: %q", a.Status, a.Error, a.Content.Text())
			}
		})
	}
}
