package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestUnsafeVariable: only the author decides the text of a variable that makes programs
// run code.
func TestUnsafeVariable(t *testing.T) {
	t.Parallel()
	const head = "name: it\ndescription: d\nparameters:\n  X: {description: x}\n  N: {description: n, type: number}\n  F: {description: f, type: boolean}\n  E: {description: e, validation: {enum: [a, b]}}\n"
	step := func(keys string) string {
		return head + "steps:\n  - {name: a, bash: echo}\n  - {name: b, bash: echo, " + keys + "}\n"
	}
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"tool":                     {head + "bash: echo\nenvironment: {LD_PRELOAD: '{X}'}\n", true},
		"part of the text":         {head + "bash: echo\nenvironment: {PATH: '{X}:{env.PATH}'}\n", true},
		"variables":                {head + "bash: echo\nenvironment: {variables: {NODE_OPTIONS: '{X}'}}\n", true},
		"secret of a command":      {head + "bash: echo\nenvironment: {secrets: [{name: BASH_ENV, command: 'echo {X}'}]}\n", true},
		"secret of a file":         {head + "bash: echo\nenvironment: {secrets: [{name: BASH_ENV, file: '{X}'}]}\n", true},
		"step":                     {step("environment: {BASH_ENV: '{X}'}"), true},
		"output of a step":         {step("environment: {GIT_SSH_COMMAND: '{a.output}'}"), true},
		"branch of a choice":       {step("environment: {ENV: \"{F ? X : 'b'}\"}"), true},
		"items of a caller":        {step("for-each: {items: ['{X}', b]}, environment: {PERL5OPT: '{item}'}"), true},
		"items of a step":          {step("for-each: {items: '{a.json}'}, environment: {PERL5OPT: '{item}'}"), true},
		"matrix of a caller":       {step("matrix: {v: ['{X}']}, environment: {RUBYOPT: '{matrix.v}'}"), true},
		"with a caller's include":  {step("matrix: {v: [a], include: [{v: '{X}'}]}, environment: {RUBYOPT: '{matrix.v}'}"), true},
		"group":                    {head + "steps:\n  - name: g\n    steps: [{name: b, bash: echo, environment: {LD_AUDIT: '{X}'}}]\n", true},
		"loop around a group":      {head + "steps:\n  - name: g\n    for-each: {items: ['{X}']}\n    steps: [{name: b, bash: echo, environment: {LD_AUDIT: '{item}'}}]\n", true},
		"handler":                  {head + "steps: [{name: a, bash: echo}]\non-failure: [{name: h, bash: echo, environment: {PYTHONPATH: '{X}'}}]\n", true},
		"of how the run went":      {head + "steps: [{name: a, bash: echo}]\non-failure: [{name: h, bash: echo, environment: {PYTHONPATH: '{run.failed-step}'}}]\n", true},
		"script":                   {head + "bash: GIT_SSH_COMMAND={X} git fetch\n", true},
		"export":                   {head + "bash: export PATH=\"{X}:$PATH\"\n", true},
		"item in a script":         {head + "steps: [{name: a, for-each: {items: ['{X}']}, bash: 'PATH={item} ls'}]\n", true},
		"a constant":               {head + "bash: echo\nenvironment: {LD_PRELOAD: ./mine.so, BASH_ENV: '{WORKSPACE}/env', PATH: '{WORKSPACE}/bin:{env.PATH}'}\n", false},
		"another name":             {step("environment: {VALUE: '{X}', MY_PATH: '{a.output}', PYTHONUNBUFFERED: '{X}'}"), false},
		"number, boolean, enum":    {step("environment: {PYTHONPATH: 'lib{N}{F}{E}'}"), false},
		"a choice of fixed texts":  {step("environment: {PATH: \"{X == 'a' ? '/opt/a' : '/opt/b'}\"}"), false},
		"items of the author":      {step("for-each: {items: [a, b]}, environment: {PERL5OPT: '{item}{index}'}"), false},
		"matrix of the author":     {step("matrix: {v: [a]}, environment: {RUBYOPT: '{matrix.v}'}"), false},
		"script, predefined":       {head + "bash: PATH={WORKSPACE}/bin:$PATH\n", false},
		"script, number":           {head + "bash: PYTHONPATH=lib{N}\n", false},
		"script, words":            {head + "bash: 'IFS={X} read -r a b'\n", false},
		"secret of the author":     {head + "bash: echo\nenvironment: {secrets: [{name: NODE_OPTIONS, env: MINE}]}\n", false},
		"granted":                  {head + "bash: echo\nsecurity: {required-permissions: ['environment:PATH']}\nenvironment: {PATH: '{X}:{env.PATH}'}\n", false},
		"granted to a step":        {head + "security: {required-permissions: ['environment:BASH_ENV']}\nsteps:\n  - name: g\n    steps: [{name: b, bash: echo, environment: {BASH_ENV: '{X}'}}]\n", false},
		"granted secret":           {head + "bash: echo\nsecurity: {required-permissions: ['environment:BASH_ENV']}\nenvironment: {secrets: [{name: BASH_ENV, file: '{X}'}]}\n", false},
		"another one granted":      {head + "bash: echo\nsecurity: {required-permissions: ['environment:PATHEXT']}\nenvironment: {PATH: '{X}'}\n", true},
		"granted by the caller":    {head + "bash: echo\nsecurity: {required-permissions: ['environment:{X}']}\nenvironment: {PATH: '{X}'}\n", true},
		"granted, in a script":     {head + "bash: PATH={X} ls\nsecurity: {required-permissions: ['environment:PATH']}\n", true},
		"env file of the author":   {head + "bash: echo\nenv-files: [.env]\n", false},
		"env file of the caller's": {head + "bash: echo\nenv-files: ['{X}.env']\n", false}, // its names are looked at when it is read
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "it.yaml"), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), "./it.yaml")
		switch {
		case c.refused && (err == nil || !strings.Contains(err.Error(), "makes programs run code")):
			t.Errorf("%s: it is allowed: %v", name, err)
		case c.refused && !strings.Contains(err.Error(), "environment:"):
			t.Errorf("%s: the message does not name the permission: %v", name, err)
		case !c.refused && err != nil:
			t.Errorf("%s: it is refused: %v", name, err)
		}
	}
}

// TestForeignEnvFile: a file that a caller chooses gives no variable that makes programs
// run code.
func TestForeignEnvFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.env": "BASH_ENV=./evil\nX=1\n", "b.env": "X=1\n",
		"theirs.yaml":  "description: d\nparameters: {F: {description: f}}\nenv-files: ['{F}.env']\nbash: echo $X\n",
		"step.yaml":    "description: d\nparameters: {F: {description: f}}\nsteps: [{name: a, bash: echo $X, env-files: ['{F}.env']}]\n",
		"granted.yaml": "description: d\nparameters: {F: {description: f}}\nsecurity: {required-permissions: ['environment:BASH_ENV']}\nenv-files: ['{F}.env']\nsteps: [{name: a, bash: echo $X, env-files: ['{F}.env']}]\n",
		"mine.yaml":    "description: d\nparameters: {F: {description: f, validation: {enum: [a, b]}}}\nenv-files: ['{F}.env']\nbash: echo $X\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		tool, file string
		runs       bool
	}{{"theirs", "a", false}, {"theirs", "b", true}, {"step", "a", false}, {"step", "b", true}, {"mine", "a", true}, {"granted", "a", true}} {
		p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), "./"+c.tool+".yaml")
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(engine.Config{StateDir: t.TempDir()}).Run(t.Context(), p, map[string]any{"F": c.file}, engine.WithRunEnv(engine.RunEnv{Workspace: dir}))
		if ran := err == nil && res.ExitCode == 0; ran != c.runs {
			t.Errorf("%s %s: %v, %+v", c.tool, c.file, err, res)
		}
	}
}
