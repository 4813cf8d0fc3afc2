package rewrite

import (
	"strings"
	"testing"
)

func TestRedact(t *testing.T) {
	hide := func(s string) string { return strings.ReplaceAll(s, "hunter22", "***") }
	for _, c := range []struct{ name, src, want string }{
		{"nothing to hide", "name:  x # y\n", "name:  x # y\n"},
		{"a plain value", "default: hunter22\nname: x\n", "default: \"***\"\nname: x\n"},
		{"in a list, and within a value", "- a\n- xhunter22y\n", "- a\n- \"x***y\"\n"},
		{"comments", "# hunter22\na: b # hunter22\n", "# ***\na: b # ***\n"},
		{"a script", "bash: |\n  echo hunter22\n  echo b\n", "bash: \"echo ***\\necho b\\n\"\n"},
		{"a key", "hunter22: x\n", "***: x\n"},
		{"no YAML", "a: [hunter22\n", "a: [***\n"},
	} {
		if got := string(Redact([]byte(c.src), hide)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
