package importer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
)

// TestTaskfileAndJustRows holds rows and their reasons: what flowrun does not do the same is not exact.
func TestTaskfileAndJustRows(t *testing.T) {
	const export = "a:\n  echo x\n"
	for _, c := range []struct {
		format, src, what string
		status            importer.Status
		reason            string
		has               string // in the definitions
	}{
		{"just", "set dotenv-load\n" + export, "set dotenv-load", changed, "the environment wins", ""},
		{"just", "unexport FOO\n" + export, "recipe a", changed, "unexport FOO is left out", "# Changed: unexport FOO is left out"},
		{"just", "set strange\n" + export, "recipe a", changed, "set strange is left out", "# Changed: set strange is left out"},
		{"just", "set export\nv := `date`\n" + export, "recipe a", changed, "the variable v is not exported", ""},
		{"just", "v := if \"a\" == \"b\" { \"c\" } else { \"d\" }\n" + export, "variable v", left, "flowrun does not evaluate if-expressions", ""},
		{"just", "v := if \"a\" == \"b\" { \"c\" } else { \"d\" }\n" + export, "recipe a", exact, "", ""},
	} {
		t.Run(c.format+" "+c.what+" "+c.reason, func(t *testing.T) {
			r, err := read(c.format, c.src)
			if err != nil {
				t.Fatal(err)
			}
			if text := definitions(t, r); !strings.Contains(text, c.has) {
				t.Errorf("the definitions do not contain %q:\n%s", c.has, text)
			}
			if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool {
				return row.What == c.what && row.Status == c.status && strings.Contains(row.Reason, c.reason)
			}) {
				t.Errorf("%s: got %+v, want %s %s: %s", c.src, r.Rows, c.what, c.status, c.reason)
			}
		})
	}
}
