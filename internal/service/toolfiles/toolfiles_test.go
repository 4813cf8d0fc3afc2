package toolfiles

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

func text(s string) tool.Value {
	t := diagnostic.Plain(s)
	return tool.Value{Scalar: s, Text: &t}
}

// TestDraft checks that keys are written in the order of the specification, and names that
// an author chose in their own order.
func TestDraft(t *testing.T) {
	var step, d Draft
	step.Set("bash", text("true"))
	step.Set("error-handling.fallback", text("false"))
	step.Set("name", text("a"))
	d.Add("tags", text("read"))
	d.Add("steps", step.Value())
	d.Entry("parameters", "type", tool.Value{Map: []tool.Entry{{Key: "description", Value: text("Z")}, {Key: "type", Value: text("number")}}})
	d.Entry("parameters", "name", tool.Value{Map: []tool.Entry{{Key: "description", Value: text("A")}}})
	d.Set("description", text("d"))
	d.Set("name", text("t"))
	d.Set("gone", text("x"))
	d.Delete("gone")
	got, err := d.YAML()
	want := `name: t
description: d

steps:
  - name: a
    bash: "true"
    error-handling:
      fallback: "false"

parameters:
  type:
    type: number
    description: Z
  name:
    description: A

tags: [read]
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	if v, ok := step.Get("error-handling.fallback"); !ok || v.Text.S != "false" {
		t.Errorf("got %v %v", v, ok)
	}
	if _, ok := step.Get("error-handling.retry.attempts"); ok {
		t.Error("a key that was never set has a value")
	}
}

func TestCheck(t *testing.T) {
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir(), Getenv: func(string) string { return "" }})
	check := func(alone bool, lines ...string) string {
		def, found := Check(lib, "/tools/a.yaml", tool.ScopeUser, []byte(strings.Join(lines, "\n")+"\n"), alone)
		if def.Scope != tool.ScopeUser || def.Name != "a" {
			t.Errorf("the definition is %s in %s", def.Name, def.Scope)
		}
		return found.Error()
	}
	if got := check(false, "description: d", "run: 'true'"); got != "" {
		t.Errorf("sound: %s", got)
	}
	nested := []string{"description: d", "steps: [{name: s, use-tool: nowhere}]"}
	if got := check(false, nested...); !strings.Contains(got, "/tools/a.yaml:2:") {
		t.Errorf("what it uses is missing: %s", got)
	}
	if got := check(true, nested...); got != "" {
		t.Errorf("alone: %s", got)
	}
	got := check(false, "bosh: x", "description: d", "steps: [{name: s, run: x, wait-for: y}]")
	if !strings.Contains(got, "a.yaml:1:1") || !strings.Contains(got, "a.yaml:3:") {
		t.Errorf("not every problem is reported: %s", got)
	}
}
