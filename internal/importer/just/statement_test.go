package just_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestLinesInsideOfStatements holds that the lines of a text, of a command and of brackets are neither recipes nor variables,
// and that a statement ends where just ends it.
func TestLinesInsideOfStatements(t *testing.T) {
	const lines = "\nb:\n  echo NO\nw := 'NO'\n"
	for _, statement := range []string{
		"v := '" + lines + "'",
		"v := \"" + lines + "\\\"\"",
		"v := `" + lines + "`",
		"v := '''" + lines + "''' + 'x'",
		"v := \"\"\"" + lines + "\"\"\" + \"x\"",
		"v := ```" + lines + "``` + 'x'",
		"v := if 'a' == 'b:' {\n'x'\n} else {\n'}'\n}",
		"v := trim(\n'('\n)",
		"v := 'x' # it's (not a text",
		"set shell := [\n'sh', # it's\n'-cu'\n]",
		"[doc('" + lines + "')]\nc:\n  echo c",
		"c x='" + lines + "':\n  echo {{x}}",
		"c: \\\n  d\n  echo c\nd:\n  echo d",
	} {
		r, err := read("w := 'YES'\n" + statement + "\n\na:\n  echo {{w}}\n")
		if err != nil {
			t.Fatal(err)
		}
		definitions := importtest.Definitions(t, r)
		if !strings.Contains(definitions, "echo YES") || strings.Contains(definitions, "name: b\n") {
			t.Errorf("%s\n%v\n%s", statement, r.Rows, definitions)
		}
	}
}

// TestTextsOfSeveralLines holds the values of texts with line breaks.
func TestTextsOfSeveralLines(t *testing.T) {
	importtest.Rows(t, read, []importtest.Case{
		{"export V := \"a\\\nb\"\na:\n  echo x\n", "recipe a", importtest.Exact, "", "V: ab"},
		{"export V := 'a\\\nb'\na:\n  echo x\n", "recipe a", importtest.Exact, "", "V: |-\n      a\\\n      b"},
		{"v := 'a\n@b'\na:\n  echo '{{v}}'\n", "recipe a", importtest.Exact, "", "echo 'a\n      @b'"},
		{"v := 'a\n@b'\na:\n  -echo '{{v}}'\n  echo c\n", "recipe a", importtest.Exact, "", "echo 'a\n      @b'\n      ) || true\n      echo c"},
		{"a:\n  echo x\nv := 'a\n", "recipe a", importtest.Left, "line 3 has a text or a bracket without an end", ""},
		{"v := trim(\na:\n  echo x\n", "line", importtest.Left, "a text or a bracket has no end: v := trim(; what follows is not read", ""},
	})
}
