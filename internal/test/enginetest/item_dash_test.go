package enginetest

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
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

// TestItemsOfTheParameter checks that the items of a loop have the properties of the parameter that they come from:
// before the run, and in it.
func TestItemsOfTheParameter(t *testing.T) {
	t.Parallel()
	const tail = "description: Loops\nparameters:\n  X: {type: array, description: values, default: [], PROPERTY}\n  Y: {type: array, description: others, default: []}\nsteps:\n"
	properties := map[string]string{"allow-dash: true": "-z", "validation: {enum: [-z, ok]}": "-z", "format: '--f={value}'": "-z", "examples: [a]": "-z"}
	for name, c := range map[string]struct{ step, refused string }{ // the parameter that is refused if X has no property
		"list":            {"- {name: l, for-each: {items: '{X}'}, run: 'echo {item}'}", "X"},
		"one of a list":   {"- {name: l, for-each: {items: [fixed, '{X[0]}']}, bash: 'echo {item}'}", "X"},
		"named":           {"- {name: l, for-each: {items: '{X}', as: file}, bash: 'echo {file}'}", "X"},
		"expression":      {"- {name: l, for-each: {items: 'filter({X}, # != \"no\")'}, bash: 'echo {item}'}", "X"},
		"matrix":          {"- {name: l, matrix: {f: '{X}', g: [a]}, bash: 'echo {matrix.f}'}", "X"},
		"second axis":     {"- {name: l, matrix: {g: '{Y}', f: '{X}'}, bash: 'echo {matrix.f}'}", "X"},
		"include":         {"- {name: l, matrix: {g: [a], include: [{g: b, f: '{X[0]}'}]}, bash: 'echo {matrix.f}'}", "X"},
		"group":           {"- {name: l, for-each: {items: '{X}'}, steps: [{name: in, bash: 'echo {item}'}]}", "X"},
		"loop in a loop":  {"- {name: l, for-each: {items: [1], as: n}, steps: [{name: in, for-each: {items: '{X}', as: f}, bash: 'echo {f}'}]}", "X"},
		"outer of a loop": {"- {name: l, for-each: {items: '{X}', as: f}, steps: [{name: in, for-each: {items: '{Y}'}, bash: 'echo {f} {item}'}]}", "X"},
		"item of an item": {"- {name: l, for-each: {items: '{X}', as: f}, steps: [{name: in, for-each: {items: ['{f}']}, bash: 'echo {item}'}]}", "X"},
		"other parameter": {"- {name: l, matrix: {f: '{X}', g: '{Y}'}, bash: 'echo x{matrix.f} {matrix.g}'}", ""},
	} {
		for property, given := range properties {
			dir := t.TempDir()
			p := compile(t, dir, strings.Replace(tail, "PROPERTY", property, 1)+c.step+"\n")
			params := map[string]any{"X": []any{given}, "Y": []any{"y"}}
			_, err := p.Bind(engine.RunEnv{}, params)
			if property == "examples: [a]" && c.refused != "" {
				checkRefused(t, name, err, c.refused)
				if _, err := p.Bind(engine.RunEnv{AllowDash: true}, params); err != nil {
					t.Errorf("%s with --allow-dash: %v", name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s, %s: %v", name, property, err)
				continue
			}
			res, err := engine.New(engine.Config{}).Run(t.Context(), p, params, engine.WithRunEnv(world(dir)))
			if err != nil || res.Status != dag.Succeeded {
				t.Errorf("%s, %s: %v, %+v", name, property, err, res)
			}
		}
	}
}

// TestItemsOfTwoParameters checks that a parameter with allow-dash does not allow a dash in the items of another one.
func TestItemsOfTwoParameters(t *testing.T) {
	t.Parallel()
	const head = "description: Loops\nparameters:\n  X: {type: array, description: values, allow-dash: true}\n  Y: {type: array, description: others}\nsteps:\n"
	for name, step := range map[string]string{
		"axis":     "- {name: l, matrix: {f: '{X}', g: '{Y}'}, bash: 'echo {matrix.f} {matrix.g}'}",
		"list":     "- {name: l, for-each: {items: ['{X[0]}', '{Y[0]}']}, bash: 'echo {item}'}",
		"together": "- {name: l, for-each: {items: 'concat({X}, {Y})'}, bash: 'echo {item}'}",
		"outer":    "- {name: l, for-each: {items: '{Y}', as: f}, steps: [{name: in, for-each: {items: '{X}'}, bash: 'echo {item} {f}'}]}",
	} {
		p := compile(t, t.TempDir(), head+step+"\n")
		_, err := p.Bind(engine.RunEnv{}, map[string]any{"X": []any{"-x"}, "Y": []any{"-y"}})
		refused := "Y"
		if name == "together" || name == "list" { // the first parameter that the items come from
			refused = "X"
		}
		checkRefused(t, name, err, refused)
	}
}

// checkRefused checks that err refuses a value of this parameter for its dash.
func checkRefused(t *testing.T, name string, err error, param string) {
	t.Helper()
	if wrong, ok := errors.AsType[*value.ParamsError](err); !ok || wrong.Problems[0].Name != param || wrong.Problems[0].Code != "dash" {
		t.Errorf("%s: %v", name, err)
	}
}
