package library_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

func schema(t *testing.T, source string) *dataschema.Schema {
	t.Helper()
	s, err := dataschema.Parse([]byte(source))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSnapshot: a snapshot answers what was asked before with what was found then, whatever
// the files hold now, and knows nothing else that files hold.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	tools := filepath.Join(dir, ".flowrun", "tools")
	if err := os.MkdirAll(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(tools, "a.yaml")
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(tools, name+".yaml"), []byte("name: "+name+"\ndescription: now\nbash: 'true'\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: t.TempDir(), Getenv: func(string) string { return "" }, MaxPlanSteps: 7})
	inGo := &tool.Definition{Name: "in_go", Description: "in Go"}
	if err := lib.Add(inGo); err != nil {
		t.Fatal(err)
	}
	program := tool.ProgramTool("prog", "from a program", schema(t, `{"properties": {"n": {"type": "integer"}}}`), tool.ProgramCall{Argv: []string{"call", "prog"}, Dir: dir, StderrFails: true})
	then := []byte("name: a\ndescription: then\nbash: 'true'\n")
	snap := lib.Snapshot([]tool.Source{
		{Name: "a", File: file, Scope: tool.ScopeLocal, Text: then},
		{Name: "./a.yaml", From: filepath.Join(tools, "b.yaml"), File: file, Scope: tool.ScopeLocal, Text: then},
		{Name: "prog", Scope: tool.ScopeDiscovered, Text: program.HistoryText},
		{Name: "torn", Scope: tool.ScopeDiscovered, Text: program.HistoryText[:len(program.HistoryText)-1]},
		{Name: "nameless", Scope: tool.ScopeDiscovered, Text: []byte(`{"name": "", "parameters": {}, "argv": ["x"]}`)},
		{Name: "idle", Scope: tool.ScopeDiscovered, Text: []byte(`{"name": "idle", "parameters": {}, "argv": []}`)},
	})

	a, _, err := snap.Lookup("a", nil)
	if err != nil || a.Description != "then" {
		t.Fatalf("%+v, %v", a, err)
	}
	if again, _, err := snap.Lookup("./a.yaml", &tool.Definition{File: filepath.Join(tools, "b.yaml")}); err != nil || again != a {
		t.Errorf("one file is two definitions: %v", err)
	}
	if now, _, err := lib.Lookup("a", nil); err != nil || now.Description != "now" {
		t.Errorf("the library it was made of answers %v, %v", now, err)
	}
	if d, _, err := snap.Lookup("in_go", nil); err != nil || d != inGo {
		t.Errorf("a definition in Go: %v, %v", d, err)
	}
	d, _, err := snap.Lookup("prog", nil)
	if err != nil || d.Description != "from a program" || len(d.Parameters) != 1 || d.Steps[0].Body.(*tool.ProgramCall).Dir != dir || !d.Steps[0].Body.(*tool.ProgramCall).StderrFails {
		t.Errorf("a discovered tool: %+v, %v", d, err)
	}
	for name, want := range map[string]string{"b": "not among the definitions", "torn": "cannot read a stored discovered tool", "nameless": "no name", "idle": "no command"} {
		if _, _, err := snap.Lookup(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if snap.Live() != lib || lib.Live() != lib || snap.Snapshot(nil).Live() != lib || (*library.Library)(nil).Live() != nil {
		t.Error("the live library of a snapshot is the one it was made of")
	}
	if snap.MaxPlanSteps() != 7 || (*library.Library)(nil).MaxPlanSteps() != 0 {
		t.Errorf("a plan may have %d steps", snap.MaxPlanSteps())
	}
}

// TestFolderOf: where new definitions of a scope go, and what one folder or scope holds.
func TestFolderOf(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	env := map[string]string{"FLOWRUN_GLOBAL_TOOLS": filepath.Join(home, "global")}
	seenFrom := func(home string) *library.Library {
		return library.New(library.Config{WorkingDirectory: dir, Home: home, Getenv: func(k string) string { return env[k] }})
	}
	folder := func(l *library.Library, s tool.Scope) string {
		t.Helper()
		path, err := l.Folder(s)
		if err != nil {
			t.Error(err)
		}
		return path
	}
	for _, old := range []string{dir, home} { // .cycod is read, but new definitions go elsewhere
		if err := os.MkdirAll(filepath.Join(old, ".cycod", "tools"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	l := seenFrom(home)
	for scope, want := range map[tool.Scope]string{
		tool.ScopeLocal:  filepath.Join(dir, ".flowrun", "tools"),
		tool.ScopeUser:   filepath.Join(home, ".config", "flowrun", "tools"),
		tool.ScopeGlobal: filepath.Join(home, "global"),
	} {
		if got := folder(l, scope); got != want {
			t.Errorf("%s: %s, want %s", scope, got, want)
		}
	}
	if got := l.Folders(); len(got) != 4 || got[0] != (library.Folder{Scope: tool.ScopeLocal, Path: filepath.Join(dir, ".cycod", "tools")}) || got[3].Scope != tool.ScopeGlobal {
		t.Errorf("names are looked up in %v", got)
	}
	for path, text := range map[string]string{
		filepath.Join(dir, ".cycod", "tools", "old.yaml"):             "name: old\nbash: 'true'\n",
		filepath.Join(home, ".config", "flowrun", "tools", "my.yaml"): "name: my\nbash: 'true'\n",
		filepath.Join(home, ".config", "flowrun", "tools", "ba.yaml"): "name: [\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d, _, err := l.LookupIn("old", tool.ScopeLocal); err != nil || d.Name != "old" || d.Scope != tool.ScopeLocal {
		t.Errorf("%v, %v", d, err)
	}
	for _, s := range []tool.Scope{tool.ScopeUser, tool.ScopeGlobal} {
		if _, _, err := l.LookupIn("old", s); err == nil || !strings.Contains(err.Error(), "old") {
			t.Errorf("a local tool is looked up among those of %s: %v", s, err)
		}
	}
	all, err := l.ListFolder(filepath.Join(home, ".config", "flowrun", "tools"))
	if err != nil || len(all) != 2 || all[0].Name != "ba" || all[0].Broken() == "" || all[1].Name != "my" || all[1].Broken() != "" {
		t.Errorf("%v, %+v", err, all)
	}
	if _, err := l.ListFolder(filepath.Join(home, "none")); err == nil {
		t.Error("a folder that is not there was listed")
	}
	if found := l.Unreadable(""); len(found) > 0 {
		t.Errorf("folders that are readable, or not there: %v", found)
	}
}
