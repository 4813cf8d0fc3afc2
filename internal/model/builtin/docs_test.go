package builtin

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestDocumented: each tool has a section, with a row for each of its parameters.
func TestDocumented(t *testing.T) {
	b, err := os.ReadFile("../../../docs/reference/builtin-tools.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range Tools(Config{}) {
		_, section, ok := strings.Cut(string(b), "\n## "+d.Name+"\n")
		if !ok {
			t.Errorf("docs/reference/builtin-tools.md has no section %s", d.Name)
			continue
		}
		section, _, _ = strings.Cut(section, "\n## ")
		for _, p := range d.Parameters {
			if !strings.Contains(section, fmt.Sprintf("\n| `%s` |", p.Name)) {
				t.Errorf("the section %s has no row for %s", d.Name, p.Name)
			}
		}
		if rows := strings.Count(section, "\n| `"); rows != len(d.Parameters) {
			t.Errorf("the section %s has %d rows for %d parameters", d.Name, rows, len(d.Parameters))
		}
	}
}
