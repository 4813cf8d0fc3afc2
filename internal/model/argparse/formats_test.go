package argparse_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// The table of formats that specification 003 promises, row by row.
func TestFormats(t *testing.T) {
	s := declared(t)
	for _, row := range []struct{ name, text, want string }{
		{"normal JSON", `{"p": 10, "d": 100}`, `{"d":100,"p":10}`},
		{"Python assignment", `{p=10, d=100}`, `{"d":100,"p":10}`},
		{"single quotes", `{'p': 10, 'd': 100}`, `{"d":100,"p":10}`},
		{"unquoted keys", `{p: 10, d: 100}`, `{"d":100,"p":10}`},
		{"JSON in a code fence", "```json{\"p\":10}```", `{"p":10}`},
		{"JSON string", `'{"p": 10, "d": 100}'`, `{"d":100,"p":10}`},
		{"mixed syntax", `{p=10, diameter: 100}`, `{"diameter":100,"p":10}`},
	} {
		res, ref := argparse.Parse(s, "pressure.solve", []byte(row.text))
		if ref != nil {
			t.Errorf("%s: %s is refused: %s", row.name, row.text, ref.Message)
			continue
		}
		got, _ := json.Marshal(res.Value)
		if string(got) != row.want || res.Repaired != (row.name != "normal JSON") || len(res.Coercions) > 0 {
			t.Errorf("%s: %s was read as %s, repaired %v, coerced %v", row.name, row.text, got, res.Repaired, res.Coercions)
		}
	}
	if _, ref := argparse.Parse(s, "", []byte("This is not JSON")); ref == nil || ref.Code != "not-arguments" {
		t.Errorf("prose: %v", ref)
	}
}

// TestResult checks what a result says about its text.
func TestResult(t *testing.T) {
	for text, want := range map[string]*argparse.Result{
		`{P: "10"}`: {Value: map[string]any{"mode": "fast", "p": json.Number("10")}, Repaired: true,
			Repairs:   []argparse.Repair{{Kind: "bare-key", Offset: 1}},
			Coercions: []argparse.Repair{{Kind: "name", Path: "p", Offset: 1}, {Kind: "number", Path: "p", Offset: 4}},
			Defaults:  []string{"mode"}},
		`{"p": 1}`: {Value: map[string]any{"mode": "fast", "p": json.Number("1")}, Defaults: []string{"mode"}},
	} {
		res, ref := argparse.Parse(small(t), "", []byte(text))
		if diff := cmp.Diff(want, res); diff != "" || ref != nil {
			t.Errorf("%s: %v\n%s", text, ref, diff)
		}
	}
}

// TestRefusalForm checks the JSON form of a refusal, which other programs read.
func TestRefusalForm(t *testing.T) {
	const want = `{"code":"undeclared","message":"unknown parameter \"pp\"; missing required parameter \"p\"","offset":1,"expected_format":{"p":1.5,"mode":"fast"},` +
		`"hint":"Use only the names in expected_format.","suggestions":["p"]}`
	_, ref := argparse.Parse(small(t), "", []byte(`{"pp": 1}`))
	if got, err := json.Marshal(ref); err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s (%v)", got, want, err)
	}
}

func small(t *testing.T) *argparse.Schema {
	s, err := argparse.ReadParameters([]byte(`{"p": {"type": "number", "required": true}, "mode": {"default": "fast"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
