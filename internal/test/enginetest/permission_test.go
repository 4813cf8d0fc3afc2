package enginetest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

// asking compiles a definition in dir beside others.
func asking(t *testing.T, dir string, files map[string]string) *engine.Plan {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("description: Under test\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), "./it.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPermissionsResolved: what is shown is where a path really leads.
func TestPermissionsResolved(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(dir, "deep", "er")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": "deep/er", "absolute": deep, "loop": "loop", "chain": "link", "out": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	p := asking(t, dir, map[string]string{"it.yaml": `
bash: "true"
parameters: {DIR: {type: string, description: where}}
security: {required-permissions: ["filesystem:write:{DIR}", "network:external:{DIR}"]}
`})
	for in, want := range map[string]string{
		"sub":                   "/sub",
		"./a/./b//c/":           "/a/b/c",
		"a/../../up":            "/../up",
		"link/new":              "/deep/er/new",
		"link/..":               "/deep", // not dir: .. counts from where the link leads
		"absolute/../x":         "/deep/x",
		"chain/x":               "/deep/er/x",
		"out":                   "/..",
		"loop/x":                "/loop/x",
		filepath.Join(dir, "y"): "/y",
	} {
		v, err := p.Preview(engine.RunEnv{Workspace: dir, Home: filepath.Join(dir, "home")}, map[string]any{"DIR": in})
		if err != nil {
			t.Fatal(err)
		}
		got := v.Tools[0].Permissions
		wanted := []permission.Permission{{Written: "filesystem:write:{DIR}", Resolved: "filesystem:write:" + filepath.Join(dir, want)},
			{Written: "network:external:{DIR}", Resolved: "network:external:" + in}}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", in, diff)
		}
	}
	v, err := p.Preview(engine.RunEnv{Workspace: dir, Home: filepath.Join(dir, "home")}, map[string]any{"DIR": "~/x"})
	if want := "filesystem:write:" + filepath.Join(dir, "home", "x"); err != nil || v.Tools[0].Permissions[0].Resolved != want {
		t.Errorf("%v %+v", err, v.Tools)
	}
	v, err = p.Preview(engine.RunEnv{Workspace: dir}, map[string]any{})
	if err != nil || v.Tools[0].Permissions[0].Resolved != "filesystem:write:" {
		t.Errorf("%v %+v", err, v)
	}
}

// TestToolsOfPreview: every tool says what it asks for and does, also one whose
// parameters are not known before the run.
func TestToolsOfPreview(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := asking(t, dir, map[string]string{
		"it.yaml": `
parameters: {TOKEN: {type: string, description: A secret}}
environment:
  secrets: [TOKEN, {name: KEY, command: "cat {TOKEN}"}]
resources: {cleanup: [{final-command: "echo bye {TOKEN}"}]}
steps:
  - {name: first, bash: "echo hunter22", error-handling: {fallback: "echo {TOKEN}"}}
  - {name: group, steps: [{name: known, use-tool: ./known.yaml, with: {P: "v"}}]}
  - {name: unknown, use-tool: ./short.yaml, with: {N: "{first.output}"}}
`,
		"known.yaml": "parameters: {P: {type: string, description: p}}\nbash: echo {P}\nsecurity: {required-permissions: ['network:local:{P}'], execution-privilege: elevated, justification: because}\n",
		"short.yaml": "name: short\ntype: alias\nbase-tool: ./number.yaml\n",
		"number.yaml": "name: number\nparameters: {N: {type: number, description: n}}\nsecurity: {required-permissions: ['network:local:{N}']}\n" +
			"steps: [{name: a, bash: 'echo {N}', error-handling: {fallback: 'rm {N}'}}]\nresources: {cleanup: [{final-command: 'echo {N}'}]}\n",
	})
	v, err := p.Preview(engine.RunEnv{Workspace: dir}, map[string]any{"TOKEN": "hunter22"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.Tools {
		v.Tools[i].File = filepath.Base(v.Tools[i].File)
	}
	want := []preview.PreviewTool{
		{Name: "it", File: "it.yaml", Scope: tool.ScopeFile, Secrets: []string{"cat '***'"}, Sources: []string{"KEY from the command cat '***'"}, Cleanup: []string{"echo bye '***'"}},
		{Step: "group/known", Name: "known", File: "known.yaml", Scope: tool.ScopeFile, Privilege: "elevated", Justification: "because",
			Permissions: []permission.Permission{{Written: "network:local:{P}", Resolved: "network:local:v"}}},
		{Step: "unknown", Name: "short", File: "number.yaml", Scope: tool.ScopeFile, Cleanup: []string{"echo {N}"},
			Permissions: []permission.Permission{{Written: "network:local:{N}", Resolved: "network:local:{N}"}}},
	}
	if diff := cmp.Diff(want, v.Tools); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	commands := map[string]string{}
	for _, s := range v.Steps {
		commands[s.ID] = s.Command + "|" + s.Fallback
	}
	for id, want := range map[string]string{"first": "echo ***|echo '***'", "unknown/a": "echo {N}|rm {N}", "group/known/known": "echo v|"} {
		if commands[id] != want {
			t.Errorf("%s: %q, want %q", id, commands[id], want)
		}
	}
	var names []string
	for _, u := range p.Tools() {
		names = append(names, u.Path+"="+strings.Join(append([]string{u.Definition.Name}, u.Definition.AliasOf...), ","))
	}
	if diff := cmp.Diff([]string{"=it", "group/known=known", "unknown=short,number"}, names); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestPreviewOfAgain: looking at what a run continues with leaves it as it is.
func TestPreviewOfAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := asking(t, dir, map[string]string{"it.yaml": "bash: test -e ok\nparameters: {P: {type: string, description: p}}\nenvironment: {variables: {V: '{P}'}}\n"})
	store := history.NewMemory()
	e := engine.New(engine.Config{Store: store})
	res, err := e.Run(context.Background(), p, map[string]any{"P": "x"}, engine.WithRunEnv(engine.RunEnv{Workspace: dir}))
	if err != nil {
		t.Fatal(err)
	}
	past, err := engine.LoadRun(context.Background(), store, library.New(library.Config{WorkingDirectory: dir}), res.ID)
	if err != nil {
		t.Fatal(err)
	}
	g, err := past.Resume(library.New(library.Config{WorkingDirectory: dir}), engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		v, err := g.Preview()
		if err != nil || len(v.Steps) != 1 || v.Steps[0].Command != "test -e ok" || len(g.Tools()) != 1 {
			t.Errorf("%v %+v", err, v)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "ok"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := e.Continue(context.Background(), g)
	if err != nil || again.ExitCode != 0 {
		t.Errorf("%v %+v", err, again)
	}
	var none *value.ParamsError
	if _, err := p.Preview(engine.RunEnv{}, map[string]any{"Q": 1}); !errors.As(err, &none) {
		t.Error(err)
	}
}
