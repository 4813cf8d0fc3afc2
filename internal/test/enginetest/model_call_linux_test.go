package enginetest

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/steps/egress"
)

// TestModelCall checks what a model's call of a tool may do that a person can run, by the permissions of the tool and the
// trust in its project, and that the step says what it lacked.
func TestModelCall(t *testing.T) {
	t.Parallel()
	const (
		search = "bash: grep -r of in\n"
	)
	permissions := func(list ...string) string {
		return "security: {required-permissions: ['" + strings.Join(list, "', '") + "']}\n"
	}
	for _, c := range []struct {
		name, tool string
		untrusted  bool
		setting    engine.Enforcement
		output     string // of a call that succeeds; "" for any
		says       string // in the message of the step that fails; "" for a success
		left       string // what is in new afterwards; "" means that it does not exist
	}{
		{name: "reads the project", tool: search, output: "in/a:of in\n"},
		{name: "reads nothing without trust", tool: search, untrusted: true, says: `lacks "filesystem:read:in"`},
		{name: "reads what is listed without trust", tool: permissions("filesystem:read:in") + search, untrusted: true, output: "in/a:of in\n"},
		{name: "reads what is listed if it demands that", tool: "security: {enforce: true}\n" + search, says: `lacks "filesystem:read:in"`},
		{name: "reads what is listed by a setting", tool: search, setting: engine.EnforceAlways, says: `lacks "filesystem:read:in"`},
		{name: "nothing else is read", tool: "bash: cat /etc/shadow\n", says: `lacks "filesystem:read:/etc/shadow"`},
		{name: "writes nothing", tool: "bash: echo x >in/new\n", says: `lacks "filesystem:write:in"`},
		{name: "changes nothing", tool: "bash: echo x >in/a\n", says: `lacks "filesystem:write:in/a"`},
		{name: "makes no folder", tool: "bash: mkdir in/new\n", says: `lacks "filesystem:write:in"`},
		{name: "removes nothing", tool: "bash: rm in/a\n", says: `lacks "filesystem:write:in/a"`},
		{name: "starts nothing", tool: "bash: bin/tool\n", says: `lacks "filesystem:execute:bin/tool"`},
		{name: "reads what it writes", tool: permissions("filesystem:write:out") + "bash: echo new >out/new; cat out/new\n", untrusted: true, output: "new\n"},
		{name: "makes the folder", tool: permissions("filesystem:write:new") + "bash: mkdir -p new; echo x >new/x; ls new\n", output: "x\n", left: "x"},
		{name: "makes the folder of a parameter", tool: "parameters: {DIR: {type: string, default: new, description: d}}\n" + permissions("filesystem:write:{DIR}") + "bash: git init -q {DIR}; ls -A {DIR}\n", output: ".git\n", left: ".git"},
		{name: "leaves no folder after a failure", tool: permissions("filesystem:write:new") + "bash: exit 3\n", says: `it has no network`},
		{name: "needs the folder of a file", tool: permissions("filesystem:write:new") + "bash: echo x >new\n", says: `lacks "filesystem:write:."`},
		{name: "a folder in a missing folder grants nothing", tool: permissions("filesystem:write:missing/new") + "bash: mkdir -p missing/new\n", says: `lacks "filesystem:write:."`},
		{name: "network without a word", tool: "bash: 'curl -sf http://localhost:1/'\n", says: `it has no network ("network:external:HOST" allows one host)`},
		{name: "network by name", tool: "bash: 'curl -sSf http://api.example.com/'\n", says: `lacks "network:external:api.example.com"`},
		{name: "a variable that fails", tool: "bash: test -n \"$NAMED\"\n", says: `lacks "environment:NAMED"`},
		{name: "a variable in Python", tool: "python: |\n  import os\n  print(os.environ['NAMED'])\n", says: `lacks "environment:NAMED"`},
		{name: "a variable that is listed", tool: permissions("environment:NAMED") + "bash: echo $NAMED\n", output: "is named\n"},
		{name: "the user's settings of git", tool: "bash: git -C . rev-parse --is-inside-work-tree\n", output: "true\n"},
		{name: "a repository without trust", tool: "bash: git status\n", untrusted: true, says: `lacks "filesystem:read:."`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, w := enforcedFolder(t)
			if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			w.Home = filepath.Join(dir, "home")
			w.Env = append(w.Env, "HOME="+w.Home)
			if err := os.Mkdir(w.Home, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.Home, ".gitconfig"), []byte("[safe]\n\tdirectory = *\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if !c.untrusted {
				w.TrustedProject = dir
			}
			e := engine.New(engine.Config{Enforce: cmp.Or(c.setting, engine.EnforceModels), Egress: egress.Serve})
			res, err := e.Run(context.Background(), compile(t, dir, "description: Tries it\n"+c.tool), nil, engine.WithRunEnv(w), engine.WithOrigin(engine.OriginCall))
			if err != nil {
				t.Fatal(err)
			}
			s := res.Steps[0]
			if ok := s.Status == dag.Succeeded; ok != (c.says == "") || c.output != "" && res.Output != c.output || !strings.Contains(s.Message, c.says) {
				t.Errorf("%s, printed %q %q: %s", s.Status, res.Output, s.Error, s.Message)
			}
			names := []string{}
			entries, _ := os.ReadDir(filepath.Join(dir, "new"))
			for _, e := range entries {
				names = append(names, e.Name())
			}
			_, err = os.Stat(filepath.Join(dir, "new"))
			if want := strings.Fields(c.left); !slices.Equal(names, want) || (err == nil) != (len(want) > 0) {
				t.Errorf("new has %q, want %q: %v", names, want, err)
			}
		})
	}
}

// TestWithheldVariable checks that a call that succeeds without a variable of the caller says so.
func TestWithheldVariable(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	p := compile(t, dir, "description: Prints variables\nbash: echo \"[$NAMED$LC_TIME$UNSET$OTHERS]\"\n")
	res, err := engine.New(engine.Config{Enforce: engine.EnforceModels}).Run(context.Background(), p, nil, engine.WithRunEnv(w), engine.WithOrigin(engine.OriginCall))
	if err != nil || res.Output != "[C]\n" {
		t.Fatalf("%v %q", err, res.Output)
	}
	if len(res.Notices) != 1 || res.Notices[0].Code != notice.Withheld || !strings.Contains(res.Notices[0].Message, `"environment:NAMED"`) {
		t.Errorf("%+v", res.Notices)
	}
}

// TestPreviewOfSecretFile checks that what a person is asked about has the permissions that the run will have: it reads
// the secret that these let it read, and no other.
func TestPreviewOfSecretFile(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	dir, w := enforcedFolder(t)
	e := engine.New(engine.Config{Enforce: engine.EnforceModels})
	for grant, want := range map[string]bool{"filesystem:read:secret": true, "filesystem:read:.": true, "filesystem:write:.": true, "filesystem:read:in": false} {
		p := compile(t, dir, "description: Has a secret\nenvironment: {secrets: [{name: B, file: secret}]}\nsecurity: {required-permissions: ['"+grant+"']}\nbash: test -n \"$B\"\n")
		args, err := p.Bind(w, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Preview(args, engine.OriginCall); (err == nil) != want {
			t.Errorf("%s: %v", grant, err)
		}
		res, err := e.RunBound(context.Background(), args, engine.WithOrigin(engine.OriginCall))
		if ran := err == nil && res.Status == dag.Succeeded; ran != want {
			t.Errorf("%s: the run succeeded %v: %v", grant, ran, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "flowrun-*")); len(left) > 0 {
		t.Errorf("left behind: %s", left)
	}
}

// TestPermissionsOfParameters checks that a caller's values do not lead the path of a permission out of the folder that is
// written before them, nor to what decides what calls may do.
func TestPermissionsOfParameters(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	for _, folder := range []string{"ok/deep", ".flowrun/tools", "outside"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "ok/deep/k")); err != nil {
		t.Fatal(err)
	}
	home, _ := os.UserHomeDir()
	for _, c := range []struct {
		permission, value string
		granted           bool
	}{
		{"filesystem:write:ok/{DIR}", "deep", true},
		{"filesystem:write:ok/{DIR}", "new", true},
		{"filesystem:write:ok/{DIR}", ".", true},
		{"filesystem:write:ok/{DIR}", "../outside", false},
		{"filesystem:write:ok/{DIR}", "deep/../../outside", false},
		{"filesystem:write:ok/{DIR}", "deep/k", false},
		{"filesystem:write:ok/{DIR}", "../.flowrun/tools", false},
		{"filesystem:read:ok/{DIR}", "../secret", false},
		{"filesystem:write:out{DIR}", "side", true},
		{"filesystem:write:out{DIR}", "/../../x", false},
		{"filesystem:write:{WORKSPACE}/ok/{DIR}", "../outside", false},
		{"filesystem:write:{DIR}", "outside", true},
		{"filesystem:write:{DIR}", dir, true},
		{"filesystem:write:{DIR}", ".flowrun", false},
		{"filesystem:write:{DIR}", "./.flowrun/.", false},
		{"filesystem:write:{DIR}", ".flowrun/config.yaml", false},
		{"filesystem:write:{DIR}", engine.DefaultStateDir(), false},
		{"filesystem:write:{DIR}", home, false},
		{"filesystem:write:{DIR}", filepath.Join(home, ".config/flowrun"), false},
		{"filesystem:write:{DIR}", "/", false},
		{"filesystem:write:.flowrun/tools", "", true}, // written by the author
	} {
		p := compile(t, dir, "description: Has a permission\nparameters: {DIR: {type: string, description: d, default: ''}}\nsecurity: {enforce: true, required-permissions: ['"+c.permission+"']}\nbash: 'true'\n")
		args, err := p.Bind(w, map[string]any{"DIR": c.value})
		if err != nil {
			t.Fatal(err)
		}
		v, err := args.Preview()
		if err != nil {
			t.Fatal(err)
		}
		if v.Tools[0].Permissions[0].Away == c.granted {
			t.Errorf("%s with %s: %s", c.permission, c.value, v.Permissions()[0])
		}
	}
}
