package enginetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// texts are values and names of which JSON keeps some only in another form.
var texts = []string{"caf\xe9", "\xff", "\xed\xa0\x80", "100%E9", "\ufffd", "😀", "a\r\nb"}

// TestBytesOfValues checks that a run that is resumed or retried works with the same bytes as the first time, wherever the
// value comes from.
func TestBytesOfValues(t *testing.T) {
	t.Parallel()
	const params = "parameters: {A: {description: a, default: ''}, L: {description: l, type: array, default: []}, O: {description: o, type: object, default: {}}, D: {description: d, default: '{A}'}}\n"
	places := map[string]struct {
		steps string
		given func(text string) map[string]any
	}{
		"text":    {"- {name: s, bash: 'printf %s {A} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"A": v} }},
		"bytes":   {"- {name: s, bash: 'printf %s {A} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"A": []byte(v)} }},
		"default": {"- {name: s, bash: 'printf %s {D} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"A": v} }},
		"list":    {"- {name: s, bash: 'printf %s {L} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"L": []any{v}} }},
		"field":   {"- {name: s, bash: 'printf %s {O.x} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"O": map[string]any{"x": v}} }},
		"item":    {"- {name: s, for-each: {items: '{L}'}, bash: 'printf %s {item} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"L": []any{v}} }},
		"with":    {"- {name: s, use-tool: ./inner.yaml, with: {A: '{A}'}}", func(v string) map[string]any { return map[string]any{"A": v} }},
		"output":  {"- {name: o, bash: 'printf %s {A}'}\n- {name: s, bash: 'printf %s {o.output} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"A": v} }},
		"env":     {"- {name: s, bash: 'printf %s {env.X} > got; [ -e go ]'}", func(v string) map[string]any { return map[string]any{"A": v} }},
	}
	for name, place := range places {
		for _, text := range texts {
			h := newKeptRuns(t)
			h.world.Env = append(h.world.Env, "X="+text)
			h.file("inner.yaml", "description: d\nparameters: {A: {description: a}}\nbash: 'printf %s {A} > got; [ -e go ]'\n")
			check := func(what string, status, want dag.Status) {
				t.Helper()
				got, _ := os.ReadFile(filepath.Join(h.dir, "got"))
				if string(got) != text || status != want {
					t.Errorf("%s, %q, %s: %q, %s", name, text, what, got, status)
				}
				os.Remove(filepath.Join(h.dir, "got"))
			}
			res := h.run(context.Background(), params+"steps:\n"+place.steps+"\n", place.given(text))
			check("first", res.Status, dag.Failed)
			h.file("go", "")
			g, err := h.latest().Retry(h.lib, engine.RetryOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if name == "env" { // a resumed run has the environment of its time
				continue
			}
			check("retry", h.goOn(g).Status, dag.Succeeded)
			os.Remove(filepath.Join(h.dir, "go"))
			h.run(context.Background(), params+"steps:\n"+place.steps+"\n", place.given(text))
			os.Remove(filepath.Join(h.dir, "got"))
			h.file("go", "")
			check("resume", h.resume(engine.ResumeOptions{}).Status, dag.Succeeded)
		}
	}
}

// TestChangedBytes checks that a retry tells values apart that differ in bytes which are not UTF-8.
func TestChangedBytes(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	h.run(context.Background(), "parameters: {A: {description: a}}\nbash: 'echo {A}'\n", map[string]any{"A": "\xff"})
	for with, want := range map[string]string{"\xff": "", "\xfe": "under-test", "\ufffd": "under-test"} {
		g, err := h.latest().Retry(h.lib, engine.RetryOptions{With: map[string]any{"A": with}})
		if err != nil || paths(g.Reset) != want {
			t.Errorf("%q: %v, %v", with, g, err)
		}
	}
}

// TestBytesOfFolder checks that a run is resumed in its folder, and with its definition.
func TestBytesOfFolder(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		h := newKeptRuns(t)
		dir := filepath.Join(h.dir, text)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		h.world.Workspace = dir
		h.run(context.Background(), "steps: [{name: a, bash: 'true'}, {name: b, bash: '[ -e go ]'}]\n", nil)
		if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if res := h.resume(engine.ResumeOptions{}); res.Status != dag.Succeeded {
			t.Errorf("%q: %s", text, res.Status)
		}
	}
}

// TestNULRefused checks that a value with NUL is refused when the run starts, also one that looks like text in the history.
func TestNULRefused(t *testing.T) {
	t.Parallel()
	p := compile(t, t.TempDir(), "description: d\nparameters: {A: {description: a}}\nbash: 'echo {A}'\n")
	for _, text := range []string{"\x00", "a\x00b", "\x00caf%E9"} {
		_, err := p.Bind(engine.RunEnv{}, map[string]any{"A": text})
		if wrong, ok := errors.AsType[*value.ParamsError](err); !ok || wrong.Problems[0].Code != "nul" {
			t.Errorf("%q: %v", text, err)
		}
	}
}
