package enginetest

import (
	"context"
	"errors"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
	"testing"
)

// TestTransformConstants: a text that the author wrote in a transform may begin with a dash, whoever chose it, and is
// left out if it is empty. A caller's text that the transform returns may not.
func TestTransformConstants(t *testing.T) {
	t.Parallel()
	const text = `
parameters:
  FLAG: {type: boolean, description: f, default: true, transform: "value ? '' : '-n'"}
  TEXT: {description: t, default: x, transform: "value === 'short' ? '-s' : value.replace('-rf', '')"}
  LIST: {type: array, description: l, default: [], transform: "value === 'v' ? '-v' : value"}
steps:
  - {name: a, bash: 'printf "<%s>" {FLAG} {TEXT} {LIST}'}
  - {name: b, use-tool: inner, with: {FLAG: "{FLAG}", TEXT: t}}
output: "{a.output}"
`
	for _, c := range []struct {
		name   string
		params map[string]any
		output string
		dash   string // the parameter that is refused
	}{
		{name: "defaults", output: "<x>"},
		{name: "a constant", params: map[string]any{"FLAG": "false"}, output: "<-n><x>"},
		{name: "an empty constant", params: map[string]any{"FLAG": "true"}, output: "<x>"},
		{name: "a constant for a text", params: map[string]any{"TEXT": "short"}, output: "<-s>"},
		{name: "a caller's text", params: map[string]any{"TEXT": "-s x"}, dash: "TEXT"},
		{name: "a caller's text that becomes an argument of the transform", params: map[string]any{"TEXT": "-rf-rf"}, dash: "TEXT"},
		{name: "constants in a list", params: map[string]any{"LIST": []any{"v", "v"}}, output: "<x><-v><-v>"},
		{name: "a list of both counts as the caller's", params: map[string]any{"LIST": []any{"v", "w"}}, dash: "LIST"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBed(t)
			b.file("inner.yaml", "name: inner\ndescription: i\nbash: echo {FLAG} {TEXT}\nparameters:\n  FLAG: {description: f}\n  TEXT: {description: t}\n")
			p := b.compile(text)
			res, err := engine.New(b.config).Run(context.Background(), p, c.params, engine.WithRunEnv(b.world))
			var bad *value.ParamsError
			switch {
			case c.dash != "":
				if !errors.As(err, &bad) || bad.Problems[0].Code != "dash" || bad.Problems[0].Name != c.dash {
					t.Errorf("got %v, want the problem dash with %s", err, c.dash)
				}
			case err != nil:
				t.Error(err)
			case res.Output != c.output || res.Err() != nil:
				t.Errorf("output %q (%v), want %q", res.Output, res.Err(), c.output)
			}
		})
	}
}
