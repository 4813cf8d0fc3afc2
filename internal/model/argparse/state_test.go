package argparse_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// TestDefaultsAreOwn: what a caller does to the arguments does not change the declaration.
func TestDefaultsAreOwn(t *testing.T) {
	s, err := argparse.ReadParameters([]byte(`{"tags":{"type":"array","default":["a","b"]},"opts":{"type":"object","default":{"x":{"y":1}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, refusal := argparse.Parse(s, "", []byte("{}"))
		if refusal != nil {
			t.Fatal(refusal)
		}
		if text := encode(t, got.Value); text != `{"opts":{"x":{"y":1}},"tags":["a","b"]}` {
			t.Fatal(text)
		}
		got.Value["tags"].([]any)[0] = "changed"
		got.Value["opts"].(map[string]any)["x"].(map[string]any)["y"] = "changed"
	}
}

// TestInputIsKept: the text of the caller is not written to.
func TestInputIsKept(t *testing.T) {
	for _, c := range readCorpus(t) {
		text := []byte(c.input)
		_, _ = argparse.Parse(c.schema, c.tool, text)
		if string(text) != c.input {
			t.Errorf("%s/%s: the input was changed", c.class, c.name)
		}
	}
}

// TestReadParametersBad: a wrong declaration is an error that names its place, no panic.
func TestReadParametersBad(t *testing.T) {
	for _, doc := range []string{
		"", "null", "[]", "5", `"x"`, "{", `{"p":5}`, `{"p":{"type":5}}`, `{"p":{"type":"nubmer"}}`, `{"p":{"type":["string",5]}}`,
		`{"p":{"required":"yes"}}`, `{"p":{"validation":5}}`, `{"p":{"validation":{"enum":5}}}`, `{"p":{"type":"array","items":5}}`,
		`{"p":{"type":"object","properties":5}}`, `{"p":{"type":"object","properties":{"x":5}}}`, `{"p":{}} x`, "{\"p\":{\"type\":\"\xff\"}}",
		strings.Repeat(`{"p":{"type":"object","properties":`, 100_000),
	} {
		if s, err := argparse.ReadParameters([]byte(doc)); err == nil {
			t.Errorf("%s is read as %+v", cut(doc), s)
		} else if err.Error() == "" {
			t.Errorf("%s: an error without words", cut(doc))
		}
	}
}

// TestParametersInOrder: the declared order is kept; the example call, the defaults and
// the names of a refusal follow it.
func TestParametersInOrder(t *testing.T) {
	s, err := argparse.ReadParameters([]byte(`{"zeta":{"type":"integer","default":1},"alpha":{"type":"integer","default":2},"mid":{"type":"integer","required":true}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, refusal := argparse.Parse(s, "", []byte(`{"mid": 3}`))
	if refusal != nil || strings.Join(got.Defaults, " ") != "zeta alpha" {
		t.Errorf("defaults %v, %v", got, refusal)
	}
	_, refusal = argparse.Parse(s, "", []byte("nothing"))
	if !json.Valid([]byte(refusal.ExpectedFormat)) {
		t.Fatalf("the example call %s", refusal.ExpectedFormat)
	}
	if z, a := strings.Index(refusal.ExpectedFormat, "zeta"), strings.Index(refusal.ExpectedFormat, "alpha"); z > a && a >= 0 {
		t.Errorf("the example call %s", refusal.ExpectedFormat)
	}
}
