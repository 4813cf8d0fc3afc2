package preview_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// asking compiles a definition in dir beside others.
func asking(t *testing.T, dir string, files map[string]string) *plan.Plan {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("description: Under test\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p, err := compile.Tool(library.New(library.Config{WorkingDirectory: dir}), "", "./it.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// previewOf binds parameters and computes the preview of a call.
func previewOf(t *testing.T, p *plan.Plan, w call.RunEnv, raw map[string]any) *preview.Preview {
	t.Helper()
	params, err := call.Bind(t.Context(), p, w.Filled(), raw)
	if err != nil {
		t.Fatal(err)
	}
	v, err := preview.Of(t.Context(), params)
	if err != nil {
		t.Fatal(err)
	}
	return v
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
		v := previewOf(t, p, call.RunEnv{Workspace: dir, Home: filepath.Join(dir, "home")}, map[string]any{"DIR": in})
		got := v.Tools[0].Permissions
		wanted := []permission.Permission{{Written: "filesystem:write:{DIR}", Resolved: "filesystem:write:" + filepath.Join(dir, want)},
			{Written: "network:external:{DIR}", Resolved: "network:external:" + in}}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", in, diff)
		}
	}
	v := previewOf(t, p, call.RunEnv{Workspace: dir, Home: filepath.Join(dir, "home")}, map[string]any{"DIR": "~/x"})
	if want := "filesystem:write:" + filepath.Join(dir, "home", "x"); v.Tools[0].Permissions[0].Resolved != want {
		t.Errorf("%+v", v.Tools)
	}
	v = previewOf(t, p, call.RunEnv{Workspace: dir}, map[string]any{})
	if v.Tools[0].Permissions[0].Resolved != "filesystem:write:" {
		t.Errorf("%+v", v)
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
	v := previewOf(t, p, call.RunEnv{Workspace: dir}, map[string]any{"TOKEN": "hunter22"})
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
