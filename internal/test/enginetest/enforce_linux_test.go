package enginetest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/steps/egress"
)

// enforcedFolder is a workspace with granted and other files.
func enforcedFolder(t *testing.T) (dir string, w engine.RunEnv) {
	t.Helper()
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	dir = openFolder(t)
	for name, text := range map[string]string{"in/a": "of in", "out/b": "of out", "secret": "of secret", ".env": "FROM=file\n", "bin/tool": "#!/bin/sh\necho of tool\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w = world(dir)
	w.Env = append(os.Environ(), "PATH=/usr/bin:/bin", "NAMED=is named", "OTHER=is other", "LC_TIME=C")
	return dir, w
}

// The start of an enforced step fails with its reason.
func TestEnforcedStart(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	for name, text := range map[string]string{"bin/interpreter": "", "bin/script": "#!" + dir + "/bin/interpreter\n", "bin/junk": "x\x01"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := compile(t, dir, `
description: Cannot start
security: {enforce: true, required-permissions: ["filesystem:execute:bin/script"]}
steps:
  - {name: script, run: ./bin/script, continue-on-error: true}
  - {name: junk, run: ./bin/junk, continue-on-error: true}
  - {name: missing, run: ./bin/missing, continue-on-error: true}
`)
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	if err != nil {
		t.Fatal(err)
	}
	for step, want := range map[string]string{"script": "add filesystem:execute: with its path", "junk": "is not a program", "missing": "does not exist"} {
		if r := res.Step(step); r.Reason != steps.ReasonStartFailed || !strings.Contains(r.Message, want) {
			t.Errorf("%s: %s %d %q", step, r.Reason, r.ExitCode, r.Message)
		}
	}
}

// The steps of an enforced tool, in whatever language, use what its permissions list and nothing else.
func TestEnforcedSteps(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	p := compile(t, dir, `
description: Looks around
parameters: {DIR: {type: string, default: in}, LARGE: {type: string, description: large, default: x}}
environment: {variables: {OWN: "is own"}}
security:
  enforce: true
  required-permissions: ["filesystem:read:{DIR}", "filesystem:write:out", "filesystem:execute:bin/tool", "environment:NAMED"]
steps:
  - {name: reads, bash: 'cat in/a'}
  - {name: writes, sh: 'echo new >out/new; echo ok'}
  - {name: executes, run: ./bin/tool}
  - {name: python, python: 'print(open("in/a").read())'}
  - {name: variables, bash: 'echo "$NAMED $OTHER $OWN $LC_TIME $FLOWRUN_STEP"'}
  - {name: temp, bash: 'echo mine >$(mktemp) && echo ok'}
  - {name: large, bash: 'printf %s "{LARGE}" | wc -c'}
  - {name: input, bash: 'cat /dev/stdin', input: given}
  - {name: streams, bash: 'echo out >/dev/stdout; bash -c "echo again >/dev/stderr"'}
  - {name: substitution, bash: 'cat <(echo piped)'}
  - {name: asks, bash: 'read -r x </dev/tty; echo "$x"', interactive: true, interactive-options: {default-response: "yes"}}
  - {name: no-read, bash: 'cat secret', continue-on-error: true}
  - {name: no-write, bash: 'echo x >in/a', continue-on-error: true}
  - {name: lists-out, bash: 'ls out >/dev/null && cat out/new'}
  - {name: no-python, python: 'open("secret")', continue-on-error: true}
  - {name: no-network, bash: 'exec 3<>/dev/tcp/127.0.0.1/1', continue-on-error: true}
  - {name: no-program, run: ./in/a, continue-on-error: true}
`)
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, map[string]any{"LARGE": strings.Repeat("x", 1_000_000)}, engine.WithRunEnv(w))
	if err != nil {
		t.Fatal(err)
	}
	for step, out := range map[string]string{"reads": "of in", "writes": "ok\n", "executes": "of tool\n", "python": "of in\n", "variables": "is named  is own C variables\n",
		"temp": "ok\n", "large": "1000000\n", "input": "given", "streams": "out\n", "substitution": "piped\n"} {
		if s := res.Step(step); s.Output != out || s.Status != dag.Succeeded {
			t.Errorf("%s: %s, printed %q, want %q: %s %s", step, s.Status, s.Output, out, s.Message, s.Error)
		}
	}
	if s := res.Step("asks"); s.Status != dag.Succeeded || !strings.Contains(s.Output, "yes") {
		t.Errorf("asks: %s, printed %q: %s %s", s.Status, s.Output, s.Message, s.Error)
	}
	for _, step := range []string{"no-read", "no-write", "no-python", "no-network"} {
		if s := res.Step(step); s.Status != dag.Failed || !strings.Contains(s.Message, "permissions of this tool are enforced") {
			t.Errorf("%s: %s, printed %q: %s %s", step, s.Status, s.Output, s.Message, s.Error)
		}
	}
	if s := res.Step("no-program"); s.Status != dag.Failed {
		t.Errorf("no-program: %s %q", s.Status, s.Output)
	}
}

// A tool that an enforced one uses gets what both list. So do scripts.
func TestEnforcedNested(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	for name, text := range map[string]string{
		"inner.yaml":  "name: inner\ndescription: x\nsecurity: {required-permissions: [filesystem:read:in, filesystem:read:secret]}\nbash: 'cat in/a; cat secret'\n",
		"greedy.yaml": "name: greedy\ndescription: x\nsecurity: {required-permissions: [filesystem:read:.]}\nbash: 'cat in/a; cat secret'\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := compile(t, dir, `
description: Uses others
security: {enforce: true, required-permissions: ["filesystem:read:in"]}
steps:
  - {name: group, continue-on-error: true, steps: [{name: own, bash: 'cat in/a; cat secret'}]}
  - {name: inner, use-tool: inner, continue-on-error: true}
  - {name: greedy, use-tool: greedy, continue-on-error: true}
`)
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"group/own", "inner/inner", "greedy/greedy"} {
		if s := res.Step(step); s == nil || s.Output != "of in" || s.Status != dag.Failed {
			t.Errorf("%s: %+v", step, s)
		}
	}
}

// Which runs are enforced: by the tool, for models, always.
func TestEnforcement(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	for _, c := range []struct {
		security, origin string
		config           engine.Enforcement
		enforced         bool
	}{
		{"", "", "", false},
		{"security: {enforce: true}", "", "", true},
		{"security: {enforce: false}", "", engine.EnforceAlways, true},
		{"", "", engine.EnforceAlways, true},
		{"", "", engine.EnforceModels, false},
		{"", engine.OriginCall, engine.EnforceModels, true},
		{"", engine.OriginMCP, engine.EnforceModels, true},
		{"", engine.OriginMCP, "", false},
		{"", "schedule:x", engine.EnforceModels, false},
	} {
		p := compile(t, dir, "description: x\nbash: cat secret\n"+c.security+"\n")
		res, err := engine.New(engine.Config{Enforce: c.config}).Run(context.Background(), p, nil, engine.WithRunEnv(w), engine.WithOrigin(c.origin))
		if err != nil {
			t.Fatal(err)
		}
		if enforced := res.Output != "of secret"; enforced != c.enforced {
			t.Errorf("%q, origin %q, %q: enforced %v: %q %+v", c.security, c.origin, c.config, enforced, res.Output, res.Steps)
		}
	}
}

// A run that was enforced when it started is enforced when it is resumed, whatever the settings are then.
func TestEnforcedResume(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	p := compile(t, dir, "description: x\nbash: cat secret\n")
	store := history.NewMemory()
	res, err := engine.New(engine.Config{Store: store, Enforce: engine.EnforceAlways}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	if err != nil || res.Status != dag.Failed {
		t.Fatal(err, res)
	}
	lib := library.New(library.Config{WorkingDirectory: dir, Home: dir})
	recorded, err := engine.LoadRun(t.Context(), store, lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	c, err := recorded.Resume(lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	res, err = engine.New(engine.Config{Store: store}).Continue(t.Context(), c)
	if err != nil || res.Output == "of secret" || !res.Enforced {
		t.Errorf("%v: it printed %q, enforced %v", err, res.Output, res.Enforced)
	}
}

// What a tool fetches and opens around its steps has the permissions of the tool.
func TestEnforcedSurroundings(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	open, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	for _, c := range []struct{ name, text, granted string }{
		{"secret command", "environment: {secrets: [{name: K, command: cat secret}]}\nbash: 'true'\n", "filesystem:read:secret"},
		{"secret file", "environment: {secrets: [{name: K, file: secret}]}\nbash: 'true'\n", "filesystem:read:secret"},
		{"env file", "env-files: [.env]\nbash: 'true'\n", "filesystem:read:.env"},
		{"output file", "steps: [{name: s, bash: echo x, output: {mode: stream, stream-callback: file, file: out/log}}]\n", "filesystem:write:out"},
		{"port", "steps: [{name: s, wait: {port: '" + open.Addr().String() + "'}}]\n", "network:local:127.0.0.1"},
		{"final command", "resources: {cleanup: [{final-command: 'cat secret'}]}\nbash: 'true'\n", "filesystem:read:secret"},
	} {
		for _, granted := range []string{c.granted, "model"} {
			p := compile(t, dir, "name: under-test\ndescription: x\nsecurity: {enforce: true, required-permissions: ['"+granted+"']}\n"+c.text)
			res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
			failed := err != nil || res.Status != dag.Succeeded || len(res.CleanupFailed()) > 0
			if failed != (granted == "model") {
				t.Errorf("%s with %s: failed %v: %v %+v", c.name, granted, failed, err, res)
			}
		}
	}
}

// What this machine cannot enforce refuses the run, or is on record if the caller allows it.
func TestUnenforced(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	p := compile(t, dir, "description: x\nsecurity: {enforce: true, required-permissions: ['network:external:a.example']}\nbash: 'cat secret || echo denied'\n")
	const missing = "cannot enforce network:external:a.example"
	var refused *outcome.ConfinementError
	_, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	if !errors.As(err, &refused) || !strings.Contains(err.Error(), missing) {
		t.Errorf("not refused: %v", err)
	}
	store := history.NewMemory()
	res, err := engine.New(engine.Config{Store: store, AllowUnenforced: true}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := store.Record(context.Background(), res.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range [][]string{res.Unenforced, recorded.Unenforced} {
		if len(list) != 1 || !strings.Contains(list[0], missing) {
			t.Errorf("on record: %q", list)
		}
	}
	if res.Output != "denied\n" {
		t.Errorf("files are not enforced: %q", res.Output)
	}
}

// A request of an enforced tool does not go through a proxy, which could reach every host for it.
func TestEnforcedProxy(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	p := compile(t, dir, `
description: Asks through a proxy
security: {enforce: true, required-permissions: ["network:external:api.example.com"]}
steps:
  - {name: ask, http: {url: "http://api.example.com/", proxy: "http://127.0.0.1:1"}}
`)
	sent, direct := false, false
	config := engine.Config{Egress: egress.Serve, Fetch: func(_ context.Context, r call.FetchRequest) (*call.FetchAnswer, error) {
		sent, direct = true, r.Direct
		return nil, errors.New("sent")
	}}
	res, err := engine.New(config).Run(context.Background(), p, nil, engine.WithRunEnv(w))
	if err != nil {
		t.Fatal(err)
	}
	if s := res.Steps[0]; sent || s.Status != dag.Failed || !strings.Contains(s.Message, "a proxy would reach any host") {
		t.Errorf("sent %v: %v: %s", sent, s.Status, s.Message)
	}
	p = compile(t, dir, `
description: Asks where the environment names a proxy
security: {enforce: true, required-permissions: ["network:external:api.example.com"]}
steps:
  - {name: ask, http: {url: "http://api.example.com/"}}
`)
	if _, err := engine.New(config).Run(context.Background(), p, nil, engine.WithRunEnv(w)); err != nil || !sent || !direct {
		t.Errorf("sent %v, without the proxy of the environment: %v (%v)", sent, direct, err)
	}
}
