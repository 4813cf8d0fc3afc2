package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// TestBadParameters: every problem of a call at once, each with the field's name.
func TestBadParameters(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := b.compile(`
bash: echo {S} {N} {B} {A} {O} {E} {P}
parameters:
  S: {type: string, description: s, validation: {minLength: 2, maxLength: 5}}
  N: {type: number, description: n, validation: {minimum: 1, maximum: 9}}
  B: {type: boolean, description: b}
  A: {type: array, description: a}
  O: {type: object, description: o}
  E: {type: string, description: e, validation: {enum: [red, green]}}
  P: {type: string, description: p, validation: {pattern: "^[a-z]+$"}}
  D: {type: string, description: d, transform: base64decode}
  R: {type: string, description: r, required: true}
`)
	cases := map[string][]any{
		"S": {"x", "toolong", nil, []any{"a"}, map[string]any{}, "a\x00b", strings.Repeat("x", 1<<20)},
		"N": {"many", "", "0", 10, "1e5", "NaN", "Infinity", "-0.5", "0x10", "1_0", true, []any{1}, "1 ", "5 apples", "١", 1e300, "99999999999999999999999"},
		"B": {"maybe", "", 2, []any{true}, nil, "truee", "on"},
		"A": {"[1,", map[string]any{}, nil, "[1] x"},
		"O": {"x", "{", "[1]", nil, []any{}, "null", "{} {}", 5},
		"E": {"blue", "", "Red", " red"},
		"P": {"A", "", "a b", "a\n1"},
		"D": {"***", "a", "=="},
		"Z": {"unknown"},
	}
	allowed := map[string]bool{"N/1 ": true, "N/١": false}
	for name, values := range cases {
		for _, v := range values {
			if allowed[fmt.Sprintf("%s/%v", name, v)] {
				continue
			}
			_, err := engine.New(engine.Config{}).Run(context.Background(), p, map[string]any{name: v}, engine.WithRunEnv(b.world))
			var pe *value.ParamsError
			if !errors.As(err, &pe) {
				t.Errorf("%s=%.40v: want a ParamsError, got %v", name, v, err)
				continue
			}
			found, missing := false, false
			for _, problem := range pe.Problems {
				found = found || problem.Name == name && problem.Message != ""
				missing = missing || problem.Name == "R"
			}
			if !found || !missing {
				t.Errorf("%s=%.40v: want problems of %s and R, got %v", name, v, name, err)
			}
		}
	}
}

// All parameters' problems come at once, before anything runs.
func TestParamsErrors(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := b.compile("bash: touch ran; echo {N} {WORD}\nparameters:\n" +
		"  N: {type: number, description: a number}\n  WORD: {description: a word, required: true}\n  MODE: {description: how, validation: {enum: [fast, slow]}}\n")
	res, err := engine.New(b.config).Run(context.Background(), p, map[string]any{"N": "many", "MODE": "slwo", "OTHER": 1}, engine.WithRunEnv(b.world))
	var problems *value.ParamsError
	if res != nil || !errors.As(err, &problems) {
		t.Fatalf("%v, %v", res, err)
	}
	got := map[string]string{}
	for _, p := range problems.Problems {
		got[p.Name] = p.Code
	}
	if diff := cmp.Diff(map[string]string{"N": "type", "WORD": "missing", "MODE": "validation", "OTHER": "unknown"}, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("it ran")
	}
}
