package schemaparams_test

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/schemaparams"
)

func TestEdit(t *testing.T) {
	for name, c := range map[string]struct{ before, after string }{
		"all keywords": {
			"parameters:\n  type: object\n  properties:\n    # which\n    A: {type: string, description: a, enum: [x, y]}\n    B:\n      type: integer\n      minimum: 1 # at least\n      default: 2\n  required: [A]\nbash: x\n",
			"parameters:\n  # which\n  A: {type: string, description: a, required: true, validation: {enum: [x, y]}}\n  B:\n    type: number\n    default: 2\n    validation:\n      minimum: 1 # at least\nbash: x\n",
		},
		"the end of the file":             {"parameters:\n  type: object\n  properties: {A: {type: string}}", "parameters:\n  {A: {type: string}}"},
		"Windows line ends":               {"parameters:\r\n    properties:\r\n      A:\r\n        type: string\r\n    type: object\r\nbash: x\r\n", "parameters:\r\n    A:\r\n      type: string\r\nbash: x\r\n"},
		"blank lines after it":            {"parameters:\n  type: object\n  properties:\n    A: {type: string}\n\n# next\nbash: x\n", "parameters:\n  A: {type: string}\n\n# next\nbash: x\n"},
		"a keyword that is not converted": {"parameters:\n  type: object\n  properties:\n    A: {type: array, items: {type: string}}\n", ""},
		"a comment that would be lost":    {"parameters:\n  type: object # yes\n  properties:\n    A: {type: string}\n", ""},
		"on one line":                     {"parameters: {type: object, properties: {A: {type: string}}}\n", ""},
		"an anchor":                       {"parameters:\n  type: object\n  properties:\n    A: &a {type: string}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, n := read(t, c.before)
			r, ok := schemaparams.Convert(n)
			if !ok {
				t.Fatal("not recognized")
			}
			edits := schemaparams.Edit(s, n, r)
			got, _ := diagnostic.Apply([]byte(c.before), edits)
			if c.after == "" && edits != nil || c.after != "" && string(got) != c.after {
				t.Errorf("got\n%s\nwant\n%s", got, c.after)
			}
		})
	}
}

// TestOthers: parameters that happen to be named like keywords are not a schema.
func TestOthers(t *testing.T) {
	for _, text := range []string{
		"parameters:\n  type: {description: a}\n  properties: {description: b}\n",
		"parameters:\n  type: object\n",
		"parameters:\n  type: object\n  properties: [A]\n",
		"parameters:\n  type: object\n  properties: {A: text}\n",
		"parameters: [A]\n",
		"parameters: {}\n",
	} {
		_, n := read(t, text)
		if _, ok := schemaparams.Convert(n); ok {
			t.Errorf("%s is taken for a schema", strings.ReplaceAll(text, "\n", " "))
		}
	}
}

// read returns the value of parameters in a text.
func read(t *testing.T, text string) (*diagnostic.Source, *yaml.Node) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return diagnostic.NewSource("t.yaml", []byte(text)), doc.Content[0].Content[1]
}
