package enginetest

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/notice"
)

// TestUnsetVariable: a value of the environment that is missing is reported, once, wherever it is inserted. A condition
// may ask for it.
func TestUnsetVariable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"a script":            {"bash: echo \"[{env.UNSET}] {env.UNSET}\"", "{env.UNSET} is empty, because the environment variable is not set"},
		"a program":           {"run: echo {env.UNSET}", "{env.UNSET} is empty"},
		"input":               {"run: cat\ninput: '{env.UNSET}'", "{env.UNSET} is empty"},
		"a variable":          {"bash: echo\nenvironment: {A: '{env.UNSET}'}", "{env.UNSET} is empty"},
		"a name of a process": {"bash: echo\nenvironment: {A: '{UNSET}'}", "{UNSET} in environment is empty"},
		"a loop":              {"steps: [{name: a, for-each: {items: [1, 2]}, run: 'echo {env.UNSET}'}]", "{env.UNSET} is empty"},
		"set":                 {"run: echo {env.PATH}", ""},
		"a condition":         {"steps: [{name: a, run: echo, run-condition: \"{env.UNSET} == null\"}]", ""},
		"a choice":            {"run: \"echo {env.UNSET ? '{env.UNSET}' : 'none'}\"", ""},
		"a branch":            {"run: \"echo {env.PATH ? env.UNSET : 'none'}\"", "{env.UNSET} is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			res := newBed(t).run(t.Context(), c.text+"\n", nil)
			var got []string
			for _, n := range res.Notices {
				if n.Code == notice.Unset {
					got = append(got, n.Message)
				}
			}
			if len(got) > 1 || (len(got) == 1) != (c.want != "") || !strings.HasPrefix(strings.Join(got, ""), c.want) {
				t.Errorf("notices %q, want %q", got, c.want)
			}
		})
	}
}
