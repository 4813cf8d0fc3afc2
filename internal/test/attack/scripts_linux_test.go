package attack

import (
	"strings"
	"testing"
)

// script is a .tool.js whose execute has that body and whose metadata has those
// permissions.
func script(id, body string, permissions ...string) string {
	list := ""
	if len(permissions) > 0 {
		list = ", permissions: ['" + strings.Join(permissions, "', '") + "']"
	}
	return "module.exports = {\n  getMetadata: () => ({ id: '" + id + "', description: 'x'" + list + " }),\n" +
		"  getSchema: () => ({ type: 'object', properties: { x: { type: 'string', description: 'x' } } }),\n" +
		"  async execute({ x }) { const { api } = this; " + body + " }\n}\n"
}

// intruder writes an executable file that leaves PWN behind.
func (s *site) intruder(name string) {
	s.Helper()
	s.chmod(s.write(name, "#!/bin/sh\n: >\""+s.path("PWN")+"\"\n"), 0o755)
}

// TestProgramsOfScripts: a permission for one program is for no other.
func TestProgramsOfScripts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, body := range map[string]string{
		"PATH":             `return api.execute('echo', ['a'], { env: { PATH: 'evil' } })`,
		"PATH, absolute":   `return api.execute('echo', ['a'], { env: { PATH: x + '/evil:/usr/bin:/bin' } })`,
		"a file here":      `return api.execute('./echo')`,
		"its whole path":   `return api.execute(x + '/echo')`,
		"cwd":              `return api.execute('echo', [], { cwd: 'evil' })`,
		"cwd and ./":       `return api.execute('./echo', [], { cwd: 'evil' })`,
		"BASH_ENV":         `return api.execute('bash', ['-c', ':'], { env: { BASH_ENV: x + '/evil/echo' } })`,
		"ENV":              `return api.execute('sh', ['-i', '-c', ':'], { env: { ENV: x + '/evil/echo' } })`,
		"a function":       `return api.execute('bash', ['-c', 'true'], { env: { 'BASH_FUNC_true%%': '() { : >' + x + '/PWN; }' } })`,
		"a name with =":    `return api.execute('bash', ['-c', ':'], { env: { ['BASH_ENV=' + x + '/evil/echo']: '' } })`,
		"PYTHONPATH":       `return api.execute('python3', ['-c', 'import this_one'], { env: { PYTHONPATH: x + '/evil' } })`,
		"GIT_SSH_COMMAND":  `return api.execute('git', ['ls-remote', 'ssh://127.0.0.1:1/x'], { env: { GIT_SSH_COMMAND: x + '/evil/echo' } })`,
		"GIT_CONFIG_COUNT": `return api.execute('git', ['x'], { env: { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'alias.x', GIT_CONFIG_VALUE_0: '!' + x + '/evil/echo' } })`,
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.intruder("echo")
			s.intruder("evil/echo")
			s.write("evil/this_one.py", "open('"+s.path("PWN")+"', 'w')\n")
			s.write("it.tool.js", script("it", body, "filesystem:execute:echo", "filesystem:execute:bash", "filesystem:execute:sh", "filesystem:execute:python3", "filesystem:execute:git"))
			if out := s.run("run", "./it.tool.js", "x="+s.project); s.exists("PWN") {
				t.Errorf("another program ran\n%s", out)
			}
		})
	}
	t.Run("the program itself", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.write("it.tool.js", script("it", `return api.execute('echo', ['a'], { env: { LC_ALL: 'C' } })`, "filesystem:execute:echo"))
		if out := s.run("run", "./it.tool.js"); !strings.Contains(out.stdout, `"stdout":"a\n"`) {
			t.Errorf("what is granted does not run\n%s", out)
		}
		if out := s.run("run", "--dry-run", "-o", "json", "./it.tool.js"); !strings.Contains(out.stdout, `bin/echo"`) {
			t.Errorf("the program is not shown resolved\n%s", out)
		}
	})
}

// TestCodeInVariables: a caller's value, or what a step printed, is never the text of a
// variable that makes programs run code.
func TestCodeInVariables(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const value = "$(: >PWN)"
	for name, text := range map[string]string{
		"BASH_ENV of a tool":    "environment: {BASH_ENV: '{X}'}\nbash: 'true'\n",
		"BASH_ENV of a step":    "steps: [{name: s, bash: 'true', environment: {BASH_ENV: '{X}'}}]\n",
		"a step's output":       "steps: [{name: p, bash: 'echo \"$V\"', environment: {V: '{X}'}}, {name: s, bash: 'true', environment: {BASH_ENV: '{p.output}'}}]\n",
		"ENV":                   "environment: {ENV: '{X}'}\nbash: 'sh -i -c :'\n",
		"PS4":                   "environment: {PS4: '{X}'}\nbash: 'bash -xc true'\n",
		"GIT_SSH_COMMAND":       "environment: {GIT_SSH_COMMAND: '{X}'}\nbash: 'git ls-remote ssh://127.0.0.1:1/x'\n",
		"in a loop":             "steps: [{name: s, for-each: {items: ['{X}']}, bash: 'true', environment: {BASH_ENV: '{item}'}}]\n",
		"in a group":            "steps: [{name: g, steps: [{name: s, bash: 'true', environment: {BASH_ENV: '{X}'}}]}]\n",
		"in a handler":          "steps: [{name: a, bash: 'true'}]\nfinally: [{name: s, bash: 'true', environment: {BASH_ENV: '{X}'}}]\n",
		"in cleanup":            "environment: {BASH_ENV: '{X}'}\nrun: 'true'\nresources: {cleanup: [{final-command: 'true'}]}\n",
		"a secret":              "environment: {secrets: [{name: BASH_ENV, command: 'echo {X}'}]}\nbash: 'true'\n",
		"in a script":           "bash: |\n  BASH_ENV={X} bash -c true\n",
		"exported in a script":  "bash: |\n  export GIT_SSH_COMMAND={X}\n  git ls-remote ssh://127.0.0.1:1/x\n",
		"an env file":           "env-files: ['{FILE}']\nbash: 'true'\n",
		"an env file of a step": "steps: [{name: s, bash: 'true', env-files: ['{FILE}']}]\n",
		"with":                  "steps: [{name: s, use-tool: ./inner.yaml, with: {X: '{X}'}}]\n",
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.write("caller.env", "BASH_ENV='$(: >PWN)'\n")
			s.write("inner.yaml", "description: x\nparameters: {X: {description: x}}\nenvironment: {BASH_ENV: '{X}'}\nbash: 'true'\n")
			s.write("t.yaml", "description: x\nparameters: {X: {description: x}, FILE: {description: x, default: /dev/null}}\n"+text)
			args := []string{"run", "./t.yaml", "X=" + value}
			if strings.Contains(text, "FILE") {
				args = append(args, "FILE=caller.env")
			}
			if out := s.run(args...); s.exists("PWN") || out.code == 0 {
				t.Errorf("the value ran, or was taken\n%s", out)
			}
		})
	}
}

// TestDataOfOthers: a tool reads what no other project's tool of its id keeps, and no
// variable of the process that it does not declare.
func TestDataOfOthers(t *testing.T) {
	keeps := script("weather", `api.environment.set('API_KEY', 'k-e-y-of-a'); api.storage.setItem('session', 'of-a'); return 'kept'`)
	reads := script("weather", `return [...String(api.environment.get('API_KEY')), ' ', ...String(api.storage.getItem('session')), ' ', ...String(api.environment.get('GITHUB_PAT')), ' ', api.environment.has('GITHUB_PAT'), ' ', ...JSON.stringify(api.environment.getAll())].join('_')`)
	for name, c := range map[string]struct{ from, to, call string }{
		"another project":        {".flowrun/tools/weather.tool.js", "b/.flowrun/tools/weather.tool.js", "weather"},
		"a file elsewhere":       {".flowrun/tools/weather.tool.js", "b/weather.tool.js", "./weather.tool.js"},
		"of a file":              {"weather.tool.js", "b/weather.tool.js", "./weather.tool.js"},
		"of the user":            {"~/.config/flowrun/tools/weather.tool.js", "b/.flowrun/tools/weather.tool.js", "weather"},
		"of the user, to a file": {"~/.config/flowrun/tools/weather.tool.js", "b/weather.tool.js", "./weather.tool.js"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.env = append(s.env, "GITHUB_PAT=ghp-of-the-person")
			s.write("b/.git/HEAD", "")
			s.write(c.from, keeps)
			from := "weather"
			if !strings.Contains(c.from, "/") {
				from = "./" + c.from
			}
			if out := s.run("run", from); out.code != 0 {
				t.Fatal(out)
			}
			s.write(c.to, reads)
			other := s.command("run", c.call)
			other.Dir = s.path("b")
			out := s.finish(other)
			text := strings.ReplaceAll(out.stdout, "_", "")
			if out.code != 0 || strings.Contains(text, "of-a") || strings.Contains(text, "ghp") || strings.Contains(text, "true") {
				t.Errorf("it reads what is not its own: %s\n%s", text, out)
			}
			s.write(c.from, reads)
			if out := s.run("run", from); !strings.Contains(strings.ReplaceAll(out.stdout, "_", ""), "of-a of-a") && !strings.Contains(strings.ReplaceAll(out.stdout, "_", ""), "k-e-y-of-a of-a") {
				t.Errorf("it does not read its own\n%s", out)
			}
		})
	}
}

// TestDashThroughScripts: what a script only passes on, or makes, of a caller's value is
// not an option of a program.
func TestDashThroughScripts(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const leaf = "name: leaf\ndescription: x\nparameters: {N: {description: n}}\nsteps: [{name: s, run: 'cat {N} key'}]\n"
	for name, c := range map[string]struct{ file, text string }{
		"callTool":          {"t.tool.js", script("t", `return api.callTool('./leaf.yaml', { N: x })`, "tool:leaf", "tool:./leaf.yaml")},
		"callTool, made":    {"t.tool.js", script("t", `return api.callTool('./leaf.yaml', { N: ('!' + x).slice(1) })`, "tool:leaf", "tool:./leaf.yaml")},
		"execute":           {"t.tool.js", script("t", `return (await api.execute('cat', [x, 'key'])).stdout`, "filesystem:execute:cat")},
		"execute, longer":   {"t.tool.js", script("t", `return (await api.execute('cat', [x + '', 'key'])).stdout`, "filesystem:execute:cat")},
		"js":                {"t.yaml", "description: x\nparameters: {x: {description: x}}\nsteps: [{name: j, js: 'return params.x'}, {name: s, run: 'cat {j.output} key'}]\n"},
		"js, a field":       {"t.yaml", "description: x\nparameters: {x: {description: x}}\nsteps: [{name: j, js: 'return { n: params.x.slice(0) }'}, {name: s, bash: 'cat {j.json.n} key'}]\n"},
		"js, with":          {"t.yaml", "description: x\nparameters: {x: {description: x}}\nsteps: [{name: j, js: 'return params.x'}, {name: s, use-tool: ./leaf.yaml, with: {N: '{j.output}'}}]\n"},
		"js, in a loop":     {"t.yaml", "description: x\nparameters: {x: {description: x}}\nsteps: [{name: j, js: 'return [params.x]'}, {name: s, for-each: {items: '{j.json}'}, run: 'cat {item} key'}]\n"},
		"js, in a group":    {"t.yaml", "description: x\nparameters: {x: {description: x}}\nsteps: [{name: g, steps: [{name: j, js: 'return params.x'}, {name: s, run: 'cat {j.output} key'}]}]\n"},
		"js of a js":        {"t.yaml", "description: x\nparameters: {x: {description: x}}\nsteps: [{name: i, js: 'return params.x'}, {name: j, js: 'return steps.i.output'}, {name: s, run: 'cat {j.output} key'}]\n"},
		"page, @preprocess": {"t.md", "---\ntool: true\nname: t\ndescription: x\ntype: single\nparameters: [{name: x, type: string, description: x}]\n---\n```javascript\n// @preprocess\nreturn { n: input.x };\n```\n```yaml\ntool: ./leaf.yaml\nparameters:\n  N: input.n\n```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.write("key", "one")
			s.write("leaf.yaml", leaf)
			s.write(c.file, c.text)
			if out := s.run("run", "./"+c.file, "x=-A"); out.code == 0 || strings.Contains(out.stdout, "one$") || !strings.Contains(out.stderr, "option") {
				t.Errorf("it arrives as an option\n%s", out)
			}
			if out := s.run("run", "./"+c.file, "x=key"); !strings.Contains(out.stdout, "oneone") {
				t.Errorf("a harmless value does not work\n%s", out)
			}
		})
	}
}
