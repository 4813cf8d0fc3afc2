package keytable

import (
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// fixed returns a text with the fixes of its problems.
func fixed(text string) string {
	_, found := DecodeData("f.yaml", []byte(text))
	var edits []diagnostic.Edit
	for _, one := range found {
		edits = append(edits, one.Fix...)
	}
	out, _ := diagnostic.Apply([]byte(text), edits)
	return string(out)
}

// TestDuplicateFix: of two equal entries the second is removed with all of its lines, and nothing else.
func TestDuplicateFix(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\na: 1\n":                                   "a: 1\n",
		"a: 1\na: 1":                                     "a: 1\n",
		"a: 1\na: 1\nb: 2\n":                             "a: 1\nb: 2\n",
		"a: 1\nb: 2\na: 1\nc: 3\n":                       "a: 1\nb: 2\nc: 3\n",
		"a: {x: 1}\na:\n  x: 1\nb: 2\n":                  "a: {x: 1}\nb: 2\n",
		"a: [1]\na:\n- 1\nb: 2\n":                        "a: [1]\nb: 2\n",
		"a: [1]\na:\n  - 1\nb: 2\n":                      "a: [1]\nb: 2\n",
		"a: 1\na: 1\n# of b\nb: 2\n":                     "a: 1\n# of b\nb: 2\n",
		"a: 1\na: 1\n\nb: 2\n":                           "a: 1\n\nb: 2\n",
		"o:\n  a: 1\n  a: 1\n  b: 2\np: 3\n":             "o:\n  a: 1\n  b: 2\np: 3\n",
		"o:\n  a: 1\n  a: 1\np: 3\n":                     "o:\n  a: 1\np: 3\n",
		"- a: 1\n  a: 1\n- b: 2\n":                       "- a: 1\n- b: 2\n",
		"a: 1\na: 2\n":                                   "a: 1\na: 2\n", // the values differ
		"{a: 1, a: 1}\n":                                 "{a: 1, a: 1}\n",
		"o: {a: 1, a: 1}\n":                              "o: {a: 1, a: 1}\n",
		"a: &x 1\na: 1\n":                                "a: &x 1\na: 1\n",
		"a: |\n  x\n\n  y\na: |\n  x\n\n  y\nb: 2\n":     "a: |\n  x\n\n  y\nb: 2\n",
		"a: |\n  x\n# note\na: |\n  x\n  # text\nb: 2\n": "a: |\n  x\n# note\na: |\n  x\n  # text\nb: 2\n",
		"a: 1\r\na: 1\r\nb: 2\r\n":                       "a: 1\r\nb: 2\r\n",
	} {
		if got := fixed(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestQuoteFix: a value that YAML cannot read is quoted if that makes the file valid, and left alone if it continues.
func TestQuoteFix(t *testing.T) {
	for text, want := range map[string]string{
		"a: x: y\n":             "a: \"x: y\"\n",
		"a: x: y # why\n":       "a: \"x: y\" # why\n",
		"a: say \"x\": y\n":     "a: 'say \"x\": y'\n",
		"a: it's \\ x: y\n":     "a: 'it''s \\ x: y'\n",
		"a: @x\n":               "a: \"@x\"\n",
		"a: `x`\nb: 1\n":        "a: \"`x`\"\nb: 1\n",
		"a: *.txt\n":            "a: \"*.txt\"\n",
		"a: {X} and more\n":     "a: \"{X} and more\"\n",
		"a: x: y\n  more\n":     "a: x: y\n  more\n",
		"a: x: y\n\n  more\n":   "a: x: y\n\n  more\n",
		"a: @x\n  more\n":       "a: @x\n  more\n",
		"o:\n  a: x: y\n  b: 1": "o:\n  a: \"x: y\"\n  b: 1",
	} {
		if got := fixed(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
