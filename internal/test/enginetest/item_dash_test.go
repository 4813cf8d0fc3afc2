package enginetest

import (
	"errors"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
	"testing"
)

// TestItemsBeforeTheRun checks that the items of a loop over a caller's value are judged before anything runs, as the
// value itself is: in every kind of loop, and wherever the item stands.
func TestItemsBeforeTheRun(t *testing.T) {
	t.Parallel()
	const head = "description: Loops\nparameters: {X: {type: array, description: values}, T: {type: string, description: text, default: ''}}\nsteps:\n- {name: a, bash: 'true'}\n"
	list, text := map[string]any{"X": []any{"ok", "-z"}}, map[string]any{"T": "ok\n-z"}
	for name, c := range map[string]struct {
		loop   string
		params map[string]any
		param  string // that is refused; "" for none
	}{
		"list":              {"- {name: l, for-each: {items: '{X}'}, bash: 'ls {item}'}", list, "X"},
		"list in a run":     {"- {name: l, for-each: {items: '{X}'}, run: 'ls {item}'}", list, "X"},
		"one of a list":     {"- {name: l, for-each: {items: [fixed, '{T}']}, bash: 'ls {item}'}", map[string]any{"T": "-z"}, "T"},
		"lines":             {"- {name: l, for-each: {items: '{T}'}, bash: 'ls {item}'}", text, "T"},
		"named":             {"- {name: l, for-each: {items: '{X}', as: file}, bash: 'ls {file}'}", list, "X"},
		"field":             {"- {name: l, for-each: {items: '{X}'}, bash: 'ls {item.f}'}", map[string]any{"X": []any{map[string]any{"f": "-z"}}}, "X"},
		"matrix":            {"- {name: l, matrix: {f: '{X}'}, bash: 'ls {matrix.f}'}", list, "X"},
		"group":             {"- {name: l, for-each: {items: '{X}'}, steps: [{name: in, bash: 'ls {item}'}]}", list, "X"},
		"loop in a loop":    {"- {name: l, for-each: {items: [1]}, steps: [{name: in, for-each: {items: '{X}', as: f}, bash: 'ls {f}'}]}", list, "X"},
		"outer of a loop":   {"- {name: l, for-each: {items: '{X}', as: f}, steps: [{name: in, for-each: {items: [1]}, bash: 'ls {f}'}]}", list, "X"},
		"fallback":          {"- {name: l, for-each: {items: '{X}'}, bash: 'false', error-handling: {fallback: 'ls {item}'}}", list, "X"},
		"after --":          {"- {name: l, for-each: {items: '{X}'}, bash: 'ls -- {item}'}", list, ""},
		"an option's value": {"- {name: l, for-each: {items: '{X}'}, bash: 'ls --ignore={item}'}", list, ""},
		"of the author":     {"- {name: l, for-each: {items: ['-z']}, bash: 'ls {item}'}", nil, ""},
		"of a step":         {"- {name: b, bash: 'echo -z'}\n- {name: l, for-each: {items: '{b.output}'}, bash: 'ls {item}'}", nil, ""},
	} {
		p := compile(t, t.TempDir(), head+c.loop+"\n")
		_, err := p.Bind(engine.RunEnv{}, c.params)
		var wrong *value.ParamsError
		if errors.As(err, &wrong) != (c.param != "") || wrong != nil && (wrong.Problems[0].Name != c.param || wrong.Problems[0].Code != "dash") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
