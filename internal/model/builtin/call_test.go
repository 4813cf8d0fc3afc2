package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// desk is a workspace beside which there are files that no call may touch.
type desk struct {
	t       *testing.T
	ws      string // the workspace, its links resolved
	outside string // a folder beside it, with the file canary
	tools   map[string]gostep.GoTool
}

const canary = "the canary sings\n"

// newDesk makes files in a workspace: by name, / at the end for a folder, "-> TARGET" for a
// link. OUT in a target is the folder outside, WS the workspace.
func newDesk(t *testing.T, named map[string]string, granted ...string) *desk {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, ws: filepath.Join(top, "ws"), outside: filepath.Join(top, "outside"), tools: map[string]gostep.GoTool{}}
	for _, dir := range []string{d.ws, d.outside} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.file(filepath.Join(d.outside, "canary"), canary)
	for name, text := range named {
		d.file(filepath.Join(d.ws, name)+map[bool]string{true: "/"}[strings.HasSuffix(name, "/")], text)
	}
	for i, g := range granted {
		granted[i] = d.fill(g)
	}
	f := &files{granted: granted}
	for _, g := range []gostep.GoTool{f.listDirectory(), f.readFile(), f.writeFile(), f.readManyFiles(), f.glob(), f.grepSearch(), f.edit()} {
		d.tools[g.Name] = g
	}
	return d
}

func (d *desk) fill(s string) string {
	return strings.NewReplacer("WS", d.ws, "OUT", d.outside).Replace(s)
}

func (d *desk) file(path, text string) {
	d.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	target, link := strings.CutPrefix(text, "-> ")
	switch {
	case err != nil:
	case strings.HasSuffix(path, "/"):
		err = os.MkdirAll(path, 0o755)
	case link:
		err = os.Symlink(d.fill(target), path)
	default:
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) read(name string) string {
	d.t.Helper()
	b, err := os.ReadFile(filepath.Join(d.ws, name))
	if err != nil {
		d.t.Fatal(err)
	}
	return string(b)
}

// input is what a step is given: parameters in pairs of name and value, held against the
// tool's schema like those of a real call.
func (d *desk) input(name string, params ...any) *gostep.StepInput {
	d.t.Helper()
	p := map[string]any{}
	for i := 0; i < len(params); i += 2 {
		v := params[i+1]
		if s, ok := v.(string); ok {
			v = d.fill(s)
		}
		p[params[i].(string)] = v
	}
	schema := d.tools[name].Schema
	p = schema.Defaults(p).(map[string]any)
	if bad := schema.Check(p); len(bad) > 0 {
		d.t.Fatalf("%s %v: %v", name, params, bad)
	}
	return &gostep.StepInput{Params: p, Workspace: d.ws, Dir: d.ws}
}

// content is what a call answers.
func (d *desk) content(name string, params ...any) (*gostep.Content, error) {
	d.t.Helper()
	v, err := d.tools[name].Run(d.t.Context(), d.input(name, params...))
	if err != nil {
		return nil, err
	}
	return v.(*gostep.Content), nil
}

// call is the text that a call answers, or its error, with the folders as WS and OUT.
func (d *desk) call(name string, params ...any) string {
	d.t.Helper()
	c, err := d.content(name, params...)
	text := fmt.Sprintf("error: %v", err)
	if err == nil {
		text = c.Text()
		if line, ends := strings.CutSuffix(text, "\n"); name != "read_file" && ends {
			text = line
		} else if name != "read_file" {
			d.t.Errorf("%s %v: the answer does not end with its line: %q", name, params, text)
		}
	}
	return strings.NewReplacer(d.ws, "WS", d.outside, "OUT").Replace(text)
}

// confirm is what a person is shown before a call.
func (d *desk) confirm(name string, params ...any) (*gostep.Confirmation, error) {
	d.t.Helper()
	return d.tools[name].Confirm(d.t.Context(), d.input(name, params...))
}

// has holds that a text has all the pieces.
func has(t *testing.T, what, got string, pieces ...string) {
	t.Helper()
	for _, p := range pieces {
		if !strings.Contains(got, p) {
			t.Errorf("%s: %q is missing in:\n%s", what, p, got)
		}
	}
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		i = max(i-100, 0)
		t.Errorf("%s: from byte %d on\n got %.300q\nwant %.300q", what, i, got[i:], want[i:])
	}
}

// TestTools: every tool has what a registry asks of it, and its schema is closed.
func TestTools(t *testing.T) {
	for _, def := range Tools(Config{}) {
		if def.Schema == nil || def.DisplayName == "" || def.Description == "" || len(def.Tags) == 0 {
			t.Errorf("%s: incomplete", def.Name)
			continue
		}
		if !def.Single {
			continue
		}
		g := def.Steps[0].Body.(*tool.GoCode).Func.(*gostep.GoTool)
		if g.Describe == nil || g.Describe(map[string]any{}) == "" {
			t.Errorf("%s does not say what it will do", def.Name)
		}
		if bad := def.Schema.Check(map[string]any{"nobody": "asked"}); len(bad) == 0 {
			t.Errorf("%s takes parameters that nobody knows", def.Name)
		}
		for _, p := range tool.ParametersOf(def.Schema) {
			if p.Description == "" && p.Name != "file_filtering_options" {
				t.Errorf("%s.%s has no description", def.Name, p.Name)
			}
		}
	}
}

// TestDone: whatever a call is doing, it stops when its context is done.
func TestDone(t *testing.T) {
	d := newDesk(t, map[string]string{"a.txt": "text\n"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, params := range map[string][]any{
		"list_directory": {"path", "WS"}, "read_file": {"absolute_path", "WS/a.txt"}, "write_file": {"file_path", "WS/new.txt", "content", "x"},
		"read_many_files": {"paths", []any{"*"}}, "glob": {"pattern", "*"}, "grep_search": {"pattern", "x"},
		"edit": {"file_path", "WS/a.txt", "old_string", "text", "new_string", "x"},
	} {
		if v, err := d.tools[name].Run(ctx, d.input(name, params...)); err == nil {
			t.Errorf("%s went on and answered %v", name, v)
		}
	}
	same(t, "a.txt", d.read("a.txt"), "text\n")
	if _, err := os.Stat(filepath.Join(d.ws, "new.txt")); err == nil {
		t.Error("a file was written")
	}
}
