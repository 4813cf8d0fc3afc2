package enginetest

import (
	"errors"
	"github.com/flowrun/flowrun/internal/lang/value"
	"strings"
	"testing"
)

// TestRefusedExample: an example that begins with a dash is reported if a command would reject it, and the refusal of
// such a value says how an author allows options.
func TestRefusedExample(t *testing.T) {
	t.Parallel()
	param := func(keys string) string {
		return "parameters: {H: {description: headers, default: '', examples: ['plain', \"-H 'X: y'\"]" + keys + "}, N: {description: n, type: number}}\n"
	}
	for name, c := range map[string]struct {
		text   string
		warned bool
	}{
		"a script":            {"bash: curl {H} x\n" + param(""), true},
		"a program":           {"run: curl {H} x\n" + param(""), true},
		"the cleanup":         {"bash: echo\nresources: {cleanup: [{final-command: 'curl {H} x'}]}\n" + param(""), true},
		"quoted":              {"bash: curl \"{H}\"\n" + param(""), true},
		"after dashes":        {"bash: curl -- {H}\n" + param(""), false},
		"inside a word":       {"bash: curl --header={H}\n" + param(""), false},
		"input":               {"bash: cat\ninput: '{H}'\n" + param(""), false},
		"raw":                 {"bash: curl {RAW:H} x\n" + param(""), false},
		"escape-shell: false": {"bash: curl {H} x\n" + param(", security: {escape-shell: false}"), false},
		"allow-dash":          {"bash: curl {H} x\n" + param(", allow-dash: true"), false},
		"with others":         {"steps:\n  - {name: a, bash: 'echo {N}'}\n  - {name: b, bash: 'curl {a.output} $(( {N} )) {H}'}\n" + param(""), true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			p := b.compile(c.text)
			warned := strings.Contains(p.Warnings.Error(), "the example for H would be rejected")
			if warned != c.warned {
				t.Errorf("warned: %t: %v", warned, p.Warnings)
			}
			_, err := p.Bind(b.world, map[string]any{"H": "-H 'X: y'", "N": 1})
			var bad *value.ParamsError
			if errors.As(err, &bad) != c.warned {
				t.Errorf("bind: %v", err)
			} else if c.warned && (!strings.Contains(bad.Problems[0].Hint, "{RAW:H}") || !strings.Contains(bad.Problems[0].Hint, "escape-shell: false")) {
				t.Errorf("the hint is %q", bad.Problems[0].Hint)
			}
		})
	}
}
