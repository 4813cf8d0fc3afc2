package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/library"
)

// openFolder is a folder that every user can read: nobody's steps start in it.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "confine-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReduced: steps of a reduced tool have no capabilities and can get none, and work
// all the same: scripts and values of any size, their folder, interpreters.
func TestReduced(t *testing.T) {
	t.Parallel()
	dir := openFolder(t)
	p := compile(t, dir, `
description: Looks at itself
security: {execution-privilege: reduced}
file-paths: {temp-directory: "{WORKSPACE}/temp/{TOOL_NAME}"}
parameters: {LARGE: {type: string, description: large}}
steps:
  - {name: status, bash: 'grep -E "^(NoNewPrivs|CapPrm|CapEff|CapAmb):" /proc/self/status'}
  - {name: large, bash: 'printf %s "{LARGE}" | wc -c'}
  - {name: python, python: 'import os; print(os.getcwd())'}
  - {name: temp, bash: 'echo mine > "$FLOWRUN_TEMP/file" && cat "$FLOWRUN_TEMP/file"'}
  - {name: missing, run: ./not-there, continue-on-error: true}
  - {name: asks, bash: 'read -r x; echo "$x"', interactive: true, interactive-options: {default-response: "yes"}}
`)
	large := strings.Repeat("x", 1_000_000)
	w := world(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, map[string]any{"LARGE": large}, engine.WithRunEnv(w))
	if err != nil {
		t.Fatal(err)
	}
	const none = "0000000000000000"
	want := map[string]string{
		"status": "CapPrm:\t" + none + "\nCapEff:\t" + none + "\nCapAmb:\t" + none + "\nNoNewPrivs:\t1\n",
		"large":  "1000000\n", "python": dir + "\n", "temp": "mine\n",
	}
	for step, out := range want {
		if s := res.Step(step); s.Output != out {
			t.Errorf("%s: %s, printed %q, want %q: %s %s", step, s.Status, s.Output, out, s.Message, s.Error)
		}
	}
	if s := res.Step("asks"); s.Status != dag.Succeeded || !strings.Contains(s.Output, "yes") {
		t.Errorf("asks: %s, printed %q: %s %s", s.Status, s.Output, s.Message, s.Error)
	}
	if s := res.Step("missing"); s.Reason != steps.ReasonStartFailed || s.ExitCode != 127 || !strings.Contains(s.Message, "not-there does not exist") {
		t.Errorf("missing: %s, exit code %d, %s", s.Reason, s.ExitCode, s.Message)
	}
}

// TestReducedNested: what a reduced tool uses is reduced too.
func TestReducedNested(t *testing.T) {
	t.Parallel()
	dir := openFolder(t)
	inner := "name: inner\ndescription: Looks at itself\nbash: 'grep NoNewPrivs: /proc/self/status'\n"
	if err := os.WriteFile(filepath.Join(dir, "inner.yaml"), []byte(inner), 0o644); err != nil {
		t.Fatal(err)
	}
	p := compile(t, dir, `
description: Uses another
security: {execution-privilege: reduced}
steps:
  - {name: group, steps: [{name: use, use-tool: inner}]}
`)
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != dag.Succeeded || res.Output != "NoNewPrivs:\t1\n" {
		t.Errorf("%s %q %+v", res.Status, res.Output, res.Steps)
	}
}

// TestGoStepUnconfined: a step in Go runs in this program. A tool that promises more is rejected, and the preview says
// so, also where another tool uses the step.
func TestGoStepUnconfined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, problem string
		secure        func(*tool.Security)
	}{
		{"reduced", "execution-privilege: reduced is not possible for a step in Go, because it runs inside this program", func(s *tool.Security) { s.ExecutionPrivilege = "reduced" }},
		{"enforced", "its permissions cannot be enforced: it is a step in Go, because it runs inside this program", func(s *tool.Security) { s.Enforce = true }},
		{"container", "isolation: container is not possible for a step in Go, because it runs inside this program", func(s *tool.Security) { s.Isolation = "container" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			def := gostep.GoTool{Name: "go-step", Description: "In Go", Run: func(context.Context, *gostep.StepInput) (any, error) {
				t.Error("the step ran")
				return nil, nil
			}}.Definition()
			user := &tool.Definition{Name: "user", Description: "Uses it", Steps: []*tool.Step{{Name: "inner", Body: &tool.ToolUse{Tool: tool.Text{S: "free"}}}}}
			free := *def
			free.Name = "free"
			c.secure(&def.Security)
			c.secure(&user.Security)
			lib := library.New(library.Config{})
			for _, d := range []*tool.Definition{def, user, &free} {
				if err := lib.Add(d); err != nil {
					t.Fatal(err)
				}
			}
			for name, step := range map[string]string{"go-step": "go-step", "user": "inner/go-step"} {
				problem := c.problem
				if name == "user" && c.name == "enforced" {
					problem = `free cannot be limited to the permissions of the tool that uses it: to allow it without limits, list "tool:free" in security.required-permissions of that tool`
				}
				p, err := engine.Compile(lib, name)
				if err != nil {
					t.Fatal(err)
				}
				_, err = engine.New(engine.Config{}).Run(context.Background(), p, nil)
				var refused *outcome.ConfinementError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), problem) {
					t.Errorf("%s: got %v", name, err)
				}
				v, err := p.Preview(engine.RunEnv{}, nil)
				if err != nil {
					t.Fatal(err)
				}
				shown := map[string]string{}
				for _, s := range v.Steps {
					shown[s.ID] = s.Problem
				}
				if shown[step] != problem {
					t.Errorf("%s: the preview shows %q, want %q with %s", name, shown, problem, step)
				}
			}
		})
	}
}

// TestNamedGoTool checks that an enforced tool may use a tool in Go that its permissions name, and no other; neither
// may one that such a tool uses, if its own permissions alone name it.
func TestNamedGoTool(t *testing.T) {
	t.Parallel()
	lib := library.New(library.Config{})
	add := func(name, uses string, enforce bool, permissions ...string) {
		d := &tool.Definition{Name: name, Description: "Uses another", Steps: []*tool.Step{{Name: "inner", Body: &tool.ToolUse{Tool: tool.Text{S: uses}}}}}
		d.Security.Enforce = enforce
		for _, p := range permissions {
			d.Security.RequiredPermissions = append(d.Security.RequiredPermissions, tool.Text{S: p})
		}
		if err := lib.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if err := lib.Add(gostep.GoTool{Name: "free", Description: "In Go", Run: func(context.Context, *gostep.StepInput) (any, error) { return "ran", nil }}.Definition()); err != nil {
		t.Fatal(err)
	}
	add("named", "free", true, "tool:free")
	add("pattern", "free", true, "tool:f*")
	add("unnamed", "free", true, "tool:other", "network", "filesystem:write:.")
	add("both", "named", true, "tool:free")
	add("inner-alone", "named", true)
	add("free-of-limits", "named", false)
	for name, allowed := range map[string]bool{"named": true, "pattern": true, "unnamed": false, "both": true, "inner-alone": false, "free-of-limits": true} {
		p, err := engine.Compile(lib, name)
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(engine.Config{}).Run(t.Context(), p, nil)
		ran := err == nil && res.Status == dag.Succeeded && strings.Contains(res.Output, "ran")
		said := fmt.Sprint(err)
		if res != nil {
			said += fmt.Sprintf(" %+v", res.Steps)
		}
		if ran != allowed || !ran && !strings.Contains(said, `list "tool:free"`) {
			t.Errorf("%s: ran %v: %s", name, ran, said)
		}
	}
}

const hungry = `
description: Needs memory
resources: {max-memory: 60MB}
steps:
  - {name: fine, bash: echo fine}
  - {name: big, python: 'x = bytearray(400_000_000)', continue-on-error: true}
  - {name: swallows, bash: 'python3 -c "x = bytearray(400_000_000)" || true', continue-on-error: true}
  - {name: cgroup, bash: 'sleep 300 & for f in $(find /sys/fs/cgroup -name cgroup.procs -path "*flowrun-*"); do ! grep -q "^$$\$" $f || [ ! -e ${f%/*}/memory.stat ] || echo "left in ${f%/*}"; done'}
  - {name: after, bash: echo still fine}
`

// TestMaxMemory: a step that takes more is ended and says so, whatever its shell makes
// of it; nothing is left of its limit.
func TestMaxMemory(t *testing.T) {
	t.Parallel()
	m, err := cgroup.NewLimit("", 0, cgroup.Limits{Memory: 1 << 20})
	if err != nil {
		t.Skipf("no memory cgroup here: %v", err)
	}
	m.End(false)
	dir := t.TempDir()
	res, err := engine.New(engine.Config{}).Run(context.Background(), compile(t, dir, hungry), nil, engine.WithRunEnv(world(dir)))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"big", "swallows"} {
		s := res.Step(step)
		if s.Status != dag.Failed || s.Reason != "memory-limit" || s.ExitCode != 137 || !strings.Contains(s.Message, "memory limit of 60 MB exceeded") {
			t.Errorf("%s: %s, %s, exit code %d: %s", step, s.Status, s.Reason, s.ExitCode, s.Message)
		}
	}
	if res.Step("fine").Output != "fine\n" || res.Step("after").Output != "still fine\n" {
		t.Errorf("%+v", res.Steps)
	}
	for _, n := range res.Notices {
		if n.Code != notice.Background && n.Code != notice.Tolerated {
			t.Errorf("notice: %+v", n)
		}
	}
	if res.Step("cgroup").Output == "" {
		t.Error("the step found no limit around itself")
	}
	for line := range strings.Lines(res.Step("cgroup").Output) {
		dir, found := strings.CutPrefix(strings.TrimSpace(line), "left in ")
		if _, err := os.Stat(dir); !found || !os.IsNotExist(err) {
			t.Errorf("left behind: %s", line)
		}
	}
}

// embedded runs a definition in an embedding program that sees no cgroups, and answers
// its Result's document and what it said.
func embedded(t *testing.T, definition, how string) (out []byte, problems string) {
	t.Helper()
	dir := openFolder(t)
	f := forest{file: filepath.Join(dir, "t.yaml")}
	if err := os.WriteFile(f.file, []byte("name: t\n"+definition), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := embedder(t, f, how, 0)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
	out, err := cmd.Output()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("this user may not have a view of the file system of its own: %v", err)
	}
	if err != nil {
		return out, string(stderrOf(err))
	}
	return out, ""
}

// TestMaxMemoryWithoutCgroup: each process's address space is bounded instead, and the
// difference is reported.
func TestMaxMemoryWithoutCgroup(t *testing.T) {
	t.Parallel()
	out, problems := embedded(t, hungry, "helper")
	if problems != "" {
		t.Fatal(problems)
	}
	var res struct {
		Steps []struct {
			ID      string
			Status  dag.Status
			Message string
		}
		Notices []notice.Notice
	}
	if err := json.Unmarshal(out, &res); err != nil {
		t.Fatal(err)
	}
	want := map[string]dag.Status{"fine": dag.Succeeded, "big": dag.Failed, "swallows": dag.Succeeded, "cgroup": dag.Succeeded, "after": dag.Succeeded}
	for _, s := range res.Steps {
		if s.Status != want[s.ID] {
			t.Errorf("%s: %s %s", s.ID, s.Status, s.Message)
		}
		if s.ID == "big" && !strings.Contains(s.Message, "resources.max-memory limited each of its processes to 60 MB of address space") {
			t.Errorf("big: %s", s.Message)
		}
	}
	if len(res.Notices) == 0 || res.Notices[0].Code != notice.Memory {
		t.Errorf("notices: %+v", res.Notices)
	}
}

// TestScriptWithoutHelperMain: such a program runs no scripts either, and says how it could.
func TestScriptWithoutHelperMain(t *testing.T) {
	t.Parallel()
	out, problems := embedded(t, "description: A script\njs: return 1;\n", "plain")
	if !strings.Contains(string(out), "HelperMain") || !strings.Contains(string(out), "InProcess") || strings.Contains(string(out), `"output":"1"`) {
		t.Errorf("printed %s, said %q", out, problems)
	}
}

// TestWithoutHelperMain: a program that never calls HelperMain confines its steps all the same.
func TestWithoutHelperMain(t *testing.T) {
	t.Parallel()
	for definition, want := range map[string]string{
		hungry: "resources.max-memory limited each of its processes to 60 MB",
		"description: Reduced\nsecurity: {execution-privilege: reduced}\nbash: grep CapEff /proc/self/status\n":            `CapEff:\t0000000000000000`,
		"description: Limited\nresources: {max-open-files: 33}\nbash: ulimit -n\n":                                         `"output":"33\n"`,
		"description: Enforced\nsecurity: {enforce: true, required-permissions: [model]}\nbash: ls /root || echo denied\n": `denied\n`,
	} {
		out, problems := embedded(t, definition, "plain")
		if !strings.Contains(string(out), want) {
			t.Errorf("%s\nprinted %s, said %q", definition, out, problems)
		}
	}
}
