package makefile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/makefile"
)

// TestBackslash checks that a rule whose names have a backslash is left out as a whole, and that no name is made
// from a part of one.
func TestBackslash(t *testing.T) {
	for src, tools := range map[string]string{
		"sp\\ ace:\n\ttouch \"$@\"\n":                   "",
		"x sp\\ ace: b\n\techo x\nb:\n\techo b\n":       "b",
		"x: sp\\ ace\n\techo x\nace:\n\techo b\n":       "ace",
		"x: | sp\\ ace\n\techo x\n":                     "",
		"N = sp\\ ace\n$(N): b\n\techo x\nb:\n\techo\n": "b",
		"N = sp\\ ace\nx: $(N)\n\techo x\n":             "",
		"a\\:b:\n\techo x\n":                            "",
		"y: x\n\techo y\nx sp\\ ace:\n\techo x\n":       "",
		"x: b \\\n  c\n\techo x\nb c:\n\techo b\n":      "x b c",
	} {
		r, err := makefile.Read([]byte(src))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, one := range r.Tools {
			names = append(names, one.Name)
		}
		said := slices.ContainsFunc(r.Rows, func(row importer.Row) bool {
			return row.Status == importer.LeftOut && strings.Contains(row.Reason, "backslash")
		})
		if got := strings.Join(names, " "); got != tools || said != (tools != "x b c") {
			t.Errorf("%q: the tools are %q, want %q; the rows are %+v", src, got, tools, r.Rows)
		}
	}
}
