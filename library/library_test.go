package library

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"

	"github.com/google/go-cmp/cmp"
)

// machine is a machine in a temporary directory: a repository, a home, a global
// folder.
type machine struct {
	t    *testing.T
	root string
}

func newMachine(t *testing.T) machine { return machine{t, t.TempDir()} }

func (h machine) path(name string) string { return filepath.Join(h.root, filepath.FromSlash(name)) }

func (h machine) write(name, content string) string {
	h.t.Helper()
	file := h.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		h.t.Fatal(err)
	}
	return file
}

// tool writes a tool that describes itself by its file.
func (h machine) tool(file, name string) string {
	return h.write(file, fmt.Sprintf("name: %s # a comment\ndescription: %s\nbash: echo\n", name, file))
}

// library is the view from repo/sub.
func (h machine) library() *Library {
	h.t.Helper()
	if err := os.MkdirAll(h.path("repo/sub"), 0o755); err != nil {
		h.t.Fatal(err)
	}
	return New(Config{
		WorkingDirectory: h.path("repo/sub"), Home: h.path("home"),
		Getenv: func(name string) string { return map[string]string{"FLOWRUN_GLOBAL_TOOLS": h.path("global")}[name] },
	})
}

func TestLookupScopes(t *testing.T) {
	h := newMachine(t)
	h.write("repo/.git/HEAD", "")
	h.tool(".flowrun/tools/outside.yaml", "outside") // above the repository
	h.tool("repo/.flowrun/tools/a.yaml", "a")
	h.tool("repo/.cycod/tools/a.yaml", "a")
	h.tool("repo/.cycod/tools/b.yml", "b")
	h.tool("home/.config/flowrun/tools/b.yaml", "b")
	h.tool("home/.config/flowrun/tools/file-c.yaml", "c")
	h.tool("home/.cycod/tools/d.yaml", "d")
	h.tool("global/e.yaml", "e")
	h.write("global/f.json", `{"name": "f", "description": "global/f.json", "bash": "echo"}`)
	lib := h.library()
	for name, want := range map[string]struct {
		scope tool.Scope
		file  string
	}{
		"a":      {tool.ScopeLocal, "repo/.flowrun/tools/a.yaml"},
		"b":      {tool.ScopeLocal, "repo/.cycod/tools/b.yml"},
		"c":      {tool.ScopeUser, "home/.config/flowrun/tools/file-c.yaml"},
		"file-c": {tool.ScopeUser, "home/.config/flowrun/tools/file-c.yaml"},
		"d":      {tool.ScopeUser, "home/.cycod/tools/d.yaml"},
		"e":      {tool.ScopeGlobal, "global/e.yaml"},
		"f":      {tool.ScopeGlobal, "global/f.json"},
	} {
		def, found, err := lib.Lookup(name, nil)
		if err != nil || found.Err() != nil {
			t.Errorf("%s: %v %v", name, err, found)
			continue
		}
		if def.Scope != want.scope || def.File != h.path(want.file) {
			t.Errorf("%s: found %s in scope %s, want %s in %s", name, def.File, def.Scope, want.file, want.scope)
		}
	}
	var missing *NotFoundError
	if _, _, err := lib.Lookup("outside", nil); !errors.As(err, &missing) {
		t.Errorf("a tool above the repository is found: %v", err)
	}
}

func TestNotFound(t *testing.T) {
	h := newMachine(t)
	h.tool("repo/.flowrun/tools/deploy.yaml", "deploy")
	lib := h.library()
	if err := lib.Add(&tool.Definition{Name: "deplow"}); err != nil {
		t.Fatal(err)
	}
	var missing *NotFoundError
	if _, _, err := lib.Lookup("deplox", nil); !errors.As(err, &missing) {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"deplow", "deploy"}, missing.Near); diff != "" {
		t.Error(diff)
	}
	from := &tool.Definition{File: h.path("repo/.flowrun/tools/deploy.yaml"), Scope: tool.ScopeFile}
	if _, _, err := lib.Lookup("deplox", from); !errors.As(err, &missing) || strings.Count(missing.Error(), h.path("repo/.flowrun/tools")) != 1 {
		t.Error("a folder must be named once:", err)
	}
	if !strings.Contains(missing.Error(), h.path("global")) || !strings.Contains(missing.Error(), `did you mean "deplow" or "deploy"?`) {
		t.Error(missing)
	}
}

func TestLookupByPath(t *testing.T) {
	h := newMachine(t)
	h.tool("repo/sub/jobs/build.yaml", "build")
	h.tool("repo/sub/jobs/helper.yaml", "helper")
	h.tool("repo/.flowrun/tools/helper.yaml", "helper")
	h.tool("repo/sub/here.yaml", "here")
	lib := h.library()
	build, _, err := lib.Lookup("jobs/build.yaml", nil)
	if err != nil || build.Scope != tool.ScopeFile {
		t.Fatal(build, err)
	}
	for name, want := range map[string]string{
		"helper":        "repo/sub/jobs/helper.yaml", // beside the file that names it
		"./helper.yaml": "repo/sub/jobs/helper.yaml",
		"../here.yaml":  "repo/sub/here.yaml",
	} {
		def, _, err := lib.Lookup(name, build)
		if err != nil || def.File != h.path(want) {
			t.Errorf("%s from build: %v %v", name, def, err)
		}
	}
	if def, _, err := lib.Lookup("helper", nil); err != nil || def.Scope != tool.ScopeLocal {
		t.Errorf("helper from the shell: %v %v", def, err)
	}
	if def, _, err := lib.Lookup("here.yaml", nil); err != nil || def.Name != "here" {
		t.Errorf("here.yaml: %v %v", def, err)
	}
	if _, _, err := lib.Lookup("./nothing.yaml", nil); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "cannot read the definition") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestHomeIsNotLocal(t *testing.T) {
	h := newMachine(t)
	h.tool("home/.cycod/tools/a.yaml", "a")
	lib := New(Config{WorkingDirectory: h.path("home"), Home: h.path("home"), Getenv: func(string) string { return "" }})
	if def, _, err := lib.Lookup("a", nil); err != nil || def.Scope != tool.ScopeUser {
		t.Errorf("%v %v", def, err)
	}
}

func TestTooLargeFile(t *testing.T) {
	h := newMachine(t)
	file := h.write("big.yaml", "\ufeff")
	if err := os.Truncate(file, 200<<20); err != nil {
		t.Fatal(err)
	}
	_, found, err := New(Config{}).Load(file)
	if err != nil || found.Err() == nil || found[0].Code != "file-too-large" {
		t.Error(found, err)
	}
}

func TestReload(t *testing.T) {
	h := newMachine(t)
	file := h.tool("repo/sub/a.yaml", "a")
	lib := h.library()
	first, _, _ := lib.Lookup("a.yaml", nil)
	again, _, _ := lib.Lookup("a.yaml", nil)
	if first != again {
		t.Error("an unchanged file was read twice")
	}
	h.write("repo/sub/a.yaml", "name: a\ndescription: another text\nbash: echo\n")
	if now, _, _ := lib.Lookup("a.yaml", nil); now.Description != "another text" {
		t.Errorf("%s changed, but the old text is given", file)
	}
}

func TestHandle(t *testing.T) {
	h := newMachine(t)
	h.write("repo/.flowrun/tools/x.tool.js", "export default {}")
	lib := h.library()
	lib.Handle(".tool.js", func(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
		return &tool.Definition{Name: "from-js", File: file, Source: src}, nil
	})
	for _, name := range []string{"x", "from-js"} {
		if def, _, err := lib.Lookup(name, nil); err != nil || def.Name != "from-js" || def.Scope != tool.ScopeLocal {
			t.Errorf("%s: %v %v", name, def, err)
		}
	}
}

func TestAdd(t *testing.T) {
	lib := newMachine(t).library()
	for _, c := range []struct {
		name string
		ok   bool
	}{{"greet", true}, {"greet", false}, {"../x", false}, {"CON", false}, {"", false}} {
		if err := lib.Add(&tool.Definition{Name: c.name}); (err == nil) != c.ok {
			t.Errorf("Add(%q) = %v", c.name, err)
		}
	}
	if def, _, err := lib.Lookup("greet", nil); err != nil || def.Scope != tool.ScopeGo {
		t.Errorf("%v %v", def, err)
	}
}

func TestList(t *testing.T) {
	h := newMachine(t)
	first := h.tool("repo/.flowrun/tools/a.yaml", "a")
	second := h.tool("home/.cycod/tools/a.yaml", "a")
	broken := h.write("global/b.yaml", "tiemout: 5\ntags: [x]\n")
	lib := h.library()
	var got []string
	for _, e := range lib.List() {
		got = append(got, fmt.Sprintf("%s %s %s by %q tags %v ok %v", e.Name, e.Scope, e.Path, e.ShadowedBy, e.Tags, e.Diagnostics.Err() == nil))
	}
	want := []string{
		fmt.Sprintf("a local %s by \"\" tags [] ok true", first),
		fmt.Sprintf("a user %s by %q tags [] ok true", second, first),
		fmt.Sprintf("b global %s by \"\" tags [x] ok false", broken),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestListTells holds what a listing says of a tool against what is in its file.
func TestListTells(t *testing.T) {
	h := newMachine(t)
	full := h.write("repo/.flowrun/tools/full.yaml", `name: full
description: All there is to list.
version: 1.2.0
deprecated: true
deprecated-message: Use empty.
platforms: [linux, macos]
tags: [read]
metadata:
  category: net
  subcategory: http
  tags: [web]
  search-keywords: [curl, fetch]
bash: echo
`)
	broken := h.write("repo/.flowrun/tools/wrong.yaml", "name: wrong\ndescription: x\nbash: echo\ntimeot: 5\n")
	byName := map[string]Listed{}
	for _, e := range h.library().List() {
		byName[e.Name] = e
	}
	want := Listed{
		Name: "full", Scope: tool.ScopeLocal, Path: full, Description: "All there is to list.", Version: "1.2.0", Tags: []string{"read"},
		Category: "net", Subcategory: "http", SearchTags: []string{"web"}, SearchKeywords: []string{"curl", "fetch"},
		Platforms: []string{"linux", "macos"}, Deprecated: true, DeprecatedMessage: "Use empty.", Diagnostics: byName["full"].Diagnostics,
	}
	if diff := cmp.Diff(want, byName["full"]); diff != "" || byName["full"].Broken() != "" {
		t.Errorf("-want +got:\n%s\nbroken: %q", diff, byName["full"].Broken())
	}
	if reason := byName["wrong"].Broken(); !strings.HasPrefix(reason, broken+":4:1: error[unknown-key]: ") {
		t.Errorf("a broken file is broken for %q", reason)
	}
	if len(byName) != 2 {
		t.Errorf("%d tools are listed, want 2: %v", len(byName), byName)
	}
}

func TestLibraryConcurrently(t *testing.T) {
	h := newMachine(t)
	for i := range 20 {
		h.tool(fmt.Sprintf("repo/.flowrun/tools/t%d.yaml", i), fmt.Sprintf("name-%d", i))
	}
	lib := h.library()
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 20 {
				if _, _, err := lib.Lookup(fmt.Sprintf("name-%d", (i+worker)%20), nil); err != nil {
					t.Error(err)
				}
			}
			lib.List()
		})
	}
	all.Wait()
}

func TestValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "github-repo-clone": true, "a.b_c-1": true, "1tool": true, strings.Repeat("x", 128): true, "connect": true,
		"": false, ".a": false, "-a": false, "a/b": false, "a b": false, "ä": false, strings.Repeat("x", 129): false,
		"CON": false, "con.txt": false, "Lpt1": false, "a\u202eb": false, "..": false,
	} {
		if got := tool.ValidName(name); got != want {
			t.Errorf("ValidName(%q) = %v", name, got)
		}
	}
}
