package tool_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/tool"
)

// TestProblems: Decode fails with errors only, Problems has the warnings too, and a definition that cannot be used has what
// could be read of it.
func TestProblems(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		tool       string
		lines      []int // of the problems
		fails      bool
	}{
		"good":          {"a.yaml", "name: a\ndescription: A.\nbash: echo\n", "a", nil, false},
		"from its file": {"dir/b.yaml", "description: B.\nbash: echo\n", "b", nil, false},
		"warning":       {"b.yaml", "name: a\ndescription: A.\nbash: echo\n", "a", []int{1}, false},
		"errors":        {"a.yaml", "name: a\ndescription: A.\nlabels: 3\nbash: echo\ntimeout: x\n", "a", []int{3, 5}, true},
		"both":          {"b.yaml", "name: a\ndescription: A.\nbash: echo\ntimeout: x\n", "a", []int{1, 4}, true},
		"Markdown":      {"c.md", "# c\n\nno tool\n", "c", []int{1}, true},
	} {
		def, err := tool.Decode(c.file, []byte(c.text))
		problems := tool.Problems(c.file, []byte(c.text))
		var lines []int
		for _, p := range problems {
			lines = append(lines, p.Pos.Line)
		}
		if def.Name != c.tool || !slices.Equal(lines, c.lines) || (err != nil) != c.fails {
			t.Errorf("%s: the tool %q, problems in the lines %v, %v", name, def.Name, lines, err)
		}
		if failed := (tool.Diagnostics)(nil); err != nil && (!errors.As(err, &failed) || len(failed) == 0) {
			t.Errorf("%s: the error has no Diagnostics: %v", name, err)
		}
	}
}
