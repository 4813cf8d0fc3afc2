package compile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestMisspeltReferences: a name in braces that nearly is that of a parameter or an available step is an error.
func TestMisspeltReferences(t *testing.T) {
	t.Parallel()
	const params = "parameters: {TARGET: {description: t}, file_names: {description: f}}\n"
	dir := t.TempDir()
	define(t, dir, "used", "parameters: {X: {description: x}}\nbash: echo {X}")
	for name, c := range map[string]struct{ text, want string }{
		"a parameter":               {"bash: echo {TARGT}", "{TARGT} is not declared, but TARGET is"},
		"in another case":           {"bash: echo {targt} {Targt}", ""},
		"a parameter in lower case": {"bash: echo {file_name}", "but file_names is"},
		"a variable of Python":      {"python: |\n  file_name = 1\n  print(f\"{file_name}\")", ""},
		"a predefined variable":     {"bash: echo {DATA}", ""},
		"an input":                  {"input: \"{TARGT}\"\nbash: cat", "but TARGET is"},
		"a program with arguments":  {"run: echo {TARGT}", "but TARGET is"},
		"a default":                 {"bash: echo {X}\nparameters: {TARGET: {description: t}, X: {description: x, default: '{TARGT}'}}", "but TARGET is"},
		"a variable of the process": {"bash: echo\nenvironment: {A: '{TARGT}'}", ""},
		"escaped":                   {"bash: echo {{TARGT}}", ""},
		"allowed":                   {"bash: echo {TARGT}\nx-allow: [TARGT]", ""},
		"allowed in a group":        {"steps: [{name: g, for-each: {items: [1]}, steps: [{name: a, bash: 'echo {TARGT}'}]}]\nx-allow: [TARGT]", ""},
		"another is allowed":        {"bash: echo {TARGT}\nx-allow: [TARGETS]", "but TARGET is"},
		"a step":                    {"steps:\n  - {name: fetch, bash: echo}\n  - {name: b, bash: 'echo {fetc.output}'}", "but fetch is"},
		"a step from a group":       {"steps:\n  - {name: fetch, bash: echo}\n  - {name: g, steps: [{name: b, bash: 'echo {fetc.output}'}]}", "but fetch is"},
		"a step in another list":    {"steps:\n  - {name: fetch1, bash: 'echo {fetch2.output}'}\n  - {name: g, steps: [{name: fetch2, bash: echo}]}", "cannot refer to step"},
		"the item of another step":  {"steps:\n  - {name: items, bash: 'echo {item}'}", ""},
		"a value for another tool":  {"steps:\n  - {name: a, use-tool: ./used.yaml, with: {X: '{TARGT}'}}", "but TARGET is"},
		"steps that are as near":    {"steps:\n  - {name: load1, bash: echo}\n  - {name: load2, bash: echo}\n  - {name: c, bash: 'echo {load3.output}'}", "but load1 or load2 is"},
		"an unknown name":           {"bash: echo {SOURCE}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.text + "\n"
			if !strings.Contains(text, "parameters:") {
				text += params
			}
			_, err := compileIn(dir, define(t, dir, "it", text))
			var found tool.Diagnostics
			switch errors.As(err, &found); {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && !strings.Contains(found.Error(), c.want):
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}
