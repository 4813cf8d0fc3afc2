package compile

import (
	"strings"
	"testing"
)

// TestWarnedReferences: text that looks like a value, but is none, is reported.
func TestWarnedReferences(t *testing.T) {
	t.Parallel()
	const params = "parameters: {NAME: {description: n, default: x}}\n"
	for name, c := range map[string]struct{ text, want string }{
		"braces in environment":      {"bash: echo {NAME}\nenvironment: {A: '${PATH}:/x'}\n" + params, "${PATH} is text here"},
		"a step's environment":       {"steps: [{name: a, bash: 'echo {NAME}', environment: {A: '$HOME/x'}}]\n" + params, "write {env.HOME}"},
		"a parameter in environment": {"bash: echo $A {NAME}\nenvironment: {A: '${NAME}'}\n" + params, "write {NAME}"},
		"a price":                    {"bash: echo {NAME}\nenvironment: {A: 'costs 5$, $a'}\n" + params, ""},
		"input":                      {"bash: cat\ninput: 'Dear ${NAME} {NAME}'\n" + params, "no shell reads the input"},
		"a step's input":             {"steps: [{name: a, bash: cat, input: '$NAME {NAME}'}]\n" + params, "no shell reads the input"},
		"another variable in input":  {"bash: cat\ninput: 'echo $HOME {NAME}'\n" + params, ""},
		"single quotes":              {"bash: \"echo {NAME} '${NAME}'\"\n" + params, "the shell replaces nothing in single quotes"},
		"others in single quotes":    {"bash: \"awk '{print $1, ENVIRON}' {NAME} '$OTHER'\"\n" + params, ""},
		"double quotes":              {"bash: 'echo {NAME} \"${NAME}\"'\n" + params, ""},
		"the name of the tool":       {"steps:\n  - {name: build, bash: 'echo {NAME}'}\n  - {name: b, bash: 'echo {t.build.output}'}\n" + params, "write {build.output}"},
		"a step inside another tool": {"steps:\n  - {name: b, bash: 'echo {NAME} {clone.fetch.output}'}\n" + params, "cannot be referred to"},
		"a field of a field":         {"steps:\n  - {name: b, bash: 'echo {NAME} {a.b.c} {x.json.y}'}\n" + params, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, found := compiled(t, c.text)
			var got []string
			for _, d := range found {
				got = append(got, d.Message+"; "+d.Hint)
			}
			if text := strings.Join(got, "\n"); len(got) > 1 || (text == "") != (c.want == "") || !strings.Contains(text, c.want) {
				t.Errorf("got %q, want %q", text, c.want)
			}
		})
	}
}
