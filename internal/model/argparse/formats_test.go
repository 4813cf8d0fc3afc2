package argparse_test

import (
	"encoding/json"
	"testing"

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

// The JSON forms of a result and of a refusal are what other programs read.
func TestForms(t *testing.T) {
	s, err := argparse.ReadParameters([]byte(`{"p": {"type": "number", "required": true}, "mode": {"default": "fast"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		`{P: "10"}`: `{"value":{"mode":"fast","p":10},"repaired":true,"repairs":[{"kind":"bare-key","path":"","offset":1}],` +
			`"coercions":[{"kind":"name","path":"p","offset":1},{"kind":"number","path":"p","offset":4}],"defaults_applied":["mode"]}`,
		`{"p": 1}`: `{"value":{"mode":"fast","p":1},"repaired":false,"repairs":[],"coercions":[],"defaults_applied":["mode"]}`,
		`{"pp": 1}`: `{"code":"undeclared","message":"unknown parameter \"pp\"; missing required parameter \"p\"","offset":1,"expected_format":{"p":1.5,"mode":"fast"},` +
			`"hint":"Use only the names in expected_format.","suggestions":["p"]}`,
	} {
		res, ref := argparse.Parse(s, "", []byte(text))
		var got []byte
		if ref != nil {
			got, err = json.Marshal(ref)
		} else {
			got, err = json.Marshal(res)
		}
		if err != nil || string(got) != want {
			t.Errorf("%s\n got  %s\n want %s (%v)", text, got, want, err)
		}
	}
}
