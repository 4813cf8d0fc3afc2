package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/os/confine"
)

// kindsOfSteps are tools of a trusted project, one for each kind of step and each source of a tool, with what a person's
// run prints and what a model's call says where it is refused; "" means that it prints the same.
var kindsOfSteps = map[string]struct{ tool, prints, refused string }{
	"bash":                 {"bash: cat data.txt", "data", ""},
	"sh":                   {"sh: cat data.txt", "data", ""},
	"python":               {"python: print(open('data.txt').read())", "data", ""},
	"run":                  {"run: cat data.txt", "data", ""},
	"commands":             {"commands: {default: cat data.txt}", "data", ""},
	"js":                   {"js: return 'data'", "data", ""},
	"js-read":              {"js: return require('fs').readFileSync('data.txt', 'utf8')", "", ""},
	"group":                {"steps: [{name: g, steps: [{name: a, bash: cat data.txt}]}]", "data", ""},
	"loop":                 {"steps: [{name: l, for-each: {items: [1]}, bash: cat data.txt}]", "data", ""},
	"use-file":             {"steps: [{name: u, use-tool: bash}]", "data", ""},
	"use-reading":          {"steps: [{name: u, use-tool: read_file, with: {absolute_path: '{WORKSPACE}/data.txt'}}]", "data", ""},
	"use-writing":          {"steps: [{name: u, use-tool: write_file, with: {file_path: '{WORKSPACE}/new.txt', content: x}}]", "new.txt", `list "tool:write_file" in security.required-permissions`},
	"use-writing-named":    {"security: {required-permissions: ['tool:write_file']}\nsteps: [{name: u, use-tool: write_file, with: {file_path: '{WORKSPACE}/new.txt', content: x}}]", "new.txt", ""},
	"use-shell":            {"steps: [{name: u, use-tool: run_shell_command, with: {command: cat data.txt}}]", "data", `list "tool:run_shell_command" in security.required-permissions`},
	"use-discovered":       {"steps: [{name: u, use-tool: found}]", "data", ""},
	"use-discovered-named": {"security: {required-permissions: ['tool:found']}\nsteps: [{name: u, use-tool: found}]", "data", ""},
	"use-mcp":              {"steps: [{name: u, use-tool: srv__far}]", "far", `list "tool:srv__far" in security.required-permissions`},
	"use-mcp-named":        {"security: {required-permissions: ['tool:srv__*']}\nsteps: [{name: u, use-tool: srv__far}]", "far", ""},
	"secret-file":          {"environment: {secrets: [{name: S, file: data.txt}]}\nbash: 'test -n \"$S\" && echo there'", "there", ""},
	"secret-command":       {"environment: {secrets: [{name: S, command: cat data.txt}]}\nbash: 'test -n \"$S\" && echo there'", "there", ""},
	"secret-variable":      {"environment: {secrets: [{name: S, env: KINDS_SECRET}]}\nbash: 'test -n \"$S\" && echo there'", "there", ""},
	"env-file":             {"env-files: [{path: own.env}]\nbash: echo $OWN", "data", ""},
	"variable":             {"bash: 'test -n \"$KINDS_SECRET\" && echo data'", "data", `"environment:KINDS_SECRET"`},
	"write":                {"bash: 'echo x > new.txt && echo data'", "data", `"filesystem:write:."`},
	"write-allowed":        {"security: {required-permissions: ['filesystem:write:out']}\nbash: 'echo data > out/new.txt && cat out/new.txt'", "data", ""},
	"output-file":          {"steps: [{name: a, bash: cat data.txt, output: {mode: stream, stream-callback: file, file: out/new.txt}}]", "data", `filesystem:write`},
	"artifact":             {"steps: [{name: a, bash: cat data.txt, artifacts: [data.txt]}]", "data", ""},
	"state":                {"state: {N: {type: string, default: data}}\nbash: echo {state.N}", "data", ""},
	"cache":                {"steps: [{name: a, bash: cat data.txt, cache: {inputs: [data.txt]}}]", "data", ""},
	"http":                 {"steps: [{name: a, http: {url: 'http://127.0.0.1:9/'}}]", "", `network:local:127.0.0.1`},
	"wait":                 {"steps: [{name: a, wait: {file: data.txt}}, {name: b, bash: cat data.txt}]", "data", ""},
	"fallback":             {"steps: [{name: a, bash: exit 1, error-handling: {fallback: cat data.txt}}]", "data", ""},
	"handler":              {"bash: cat data.txt\nfinally: [{name: f, bash: test -r data.txt}]", "data", ""},
	"final-command":        {"bash: cat data.txt\nresources: {cleanup: [{final-command: test -r data.txt}]}", "data", ""},
}

// TestKindsOfSteps is the table of kinds of steps and sources of tools by entry points: a person's run, one in the
// service, a model's call and one over MCP give one result, or the refusal names the line that allows it.
func TestKindsOfSteps(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	project := func(t *testing.T) *caller {
		c := &caller{t, t.TempDir()}
		files := map[string]string{"data.txt": "data\n", "own.env": "OWN=data\n", "out/old.txt": "", "far/.flowrun/tools/far.yaml": "name: far\ndescription: Far\ntags: [read]\nbash: echo far\n",
			"found.sh": "#!/bin/sh\necho '[{\"name\": \"found\", \"description\": \"Found\"}]'\n", "call.sh": "#!/bin/sh\ncat data.txt\n",
			".flowrun/config.yaml": "tools: {discoveryCommand: sh found.sh, callCommand: sh call.sh}\nmcpServers:\n  srv: {command: flowrun, args: [mcp, --auto-approve, '*'], cwd: far, env: {FLOWRUN_STATE_DIR: far/state}}\n"}
		for name, k := range kindsOfSteps {
			files[".flowrun/tools/"+name+".yaml"] = "name: " + name + "\ndescription: Shows a kind of step\n" + k.tool + "\n"
		}
		for name, text := range files {
			path := filepath.Join(c.dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c.start("flowrun", "trust")
		return c
	}
	os.Setenv("KINDS_SECRET", "a secret value") // the tests below are parallel
	for name, k := range kindsOfSteps {
		t.Run(name, func(t *testing.T) {
			if python, _ := exec.LookPath("python3"); name == "python" && !strings.HasPrefix(python, "/usr/") {
				t.Skipf("python3 is %s, which enforced steps may not use", python)
			}
			t.Parallel()
			person := project(t).run(name, nil)
			if k.prints != "" && (!person.ok || !strings.Contains(person.text, k.prints)) {
				t.Errorf("a person gets %v %q", person.ok, person.text)
			}
			for who, call := range map[string]func(*caller, string, map[string]any) called{"call": (*caller).call, "MCP": (*caller).mcp} {
				got := call(project(t), name, nil)
				switch {
				case k.refused != "":
					if got.ok || !strings.Contains(got.text, k.refused) {
						t.Errorf("%s: %v %q, want a refusal with %s", who, got.ok, got.text, k.refused)
					}
				case got.ok != person.ok || got.ok && got.text != person.text:
					t.Errorf("%s: %v %q, a person gets %v %q", who, got.ok, got.text, person.ok, person.text)
				}
			}
		})
	}
}
