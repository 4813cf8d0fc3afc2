package library_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestProvide: what is in files is found first, then what each provider has, and no
// provider is asked before that.
func TestProvide(t *testing.T) {
	dir := t.TempDir()
	os.MkdirAll(filepath.Join(dir, ".flowrun/tools"), 0o700)
	os.MkdirAll(filepath.Join(dir, ".git"), 0o700)
	if err := os.WriteFile(filepath.Join(dir, ".flowrun/tools/file.yaml"), []byte("name: file\nbash: echo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir + "/home", Getenv: func(string) string { return "" }})
	asked := map[tool.Scope]int{}
	provide := func(scope tool.Scope, names ...string) {
		lib.Provide(scope, func() (list []*tool.Definition) {
			asked[scope]++
			for _, n := range names {
				list = append(list, &tool.Definition{Name: n, Description: string(scope)})
			}
			return list
		})
	}
	provide(tool.ScopeBuiltin, "both", "file", "discovered_tool_odd")
	provide(tool.ScopeDiscovered, "both", "told", "not a name", "odd")
	lib.ExplainMissing(func() string { return "nobody was asked" })

	scopeOf := func(name string) tool.Scope {
		def, _, err := lib.Lookup(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return def.Scope
	}
	if s := scopeOf("file"); s != tool.ScopeLocal || len(asked) > 0 {
		t.Error(s, asked)
	}
	if s := scopeOf("both"); s != tool.ScopeBuiltin || asked[tool.ScopeDiscovered] > 0 {
		t.Error(s, asked)
	}
	lib.List()
	if asked[tool.ScopeDiscovered] > 0 {
		t.Error("a list asked")
	}
	for name, want := range map[string]tool.Scope{"told": tool.ScopeDiscovered, "discovered_tool_told": tool.ScopeDiscovered, "discovered_tool_both": tool.ScopeDiscovered,
		"discovered_tool_odd": tool.ScopeBuiltin} {
		if s := scopeOf(name); s != want {
			t.Errorf("%s is %s, want %s", name, s, want)
		}
	}
	for name, want := range map[string]string{"discovered_tool_told": "told", "discovered_tool_both": "discovered_tool_both"} { // who has approved both has not approved this one
		if def, _, _ := lib.Lookup(name, nil); def == nil || def.Name != want {
			t.Errorf("%s is %+v, want the name %s", name, def, want)
		}
	}
	_, _, err := lib.Lookup("tolld", nil)
	missing, _ := errors.AsType[*library.NotFoundError](err)
	if missing == nil || !slices.Equal(missing.Near, []string{"told"}) || missing.Note != "nobody was asked" {
		t.Errorf("%+v", missing)
	}
	if _, _, err := lib.LookupIn("told", tool.ScopeUser); !errors.As(err, &missing) || missing.Note != "" {
		t.Error(err)
	}
	var lines []string
	for _, e := range lib.ListAll() {
		lines = append(lines, e.Name+" "+string(e.Scope)+" "+filepath.Base(e.ShadowedBy))
	}
	want := []string{"both builtin .", "both discovered builtin", "discovered_tool_odd builtin .", "file local .", "file builtin file.yaml", "odd discovered .", "told discovered ."}
	if !slices.Equal(lines, want) {
		t.Errorf("%q\nwant %q", lines, want)
	}
	if asked[tool.ScopeBuiltin] != 1 || asked[tool.ScopeDiscovered] != 1 {
		t.Error(asked)
	}
}
