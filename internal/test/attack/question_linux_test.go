package attack

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestQuestionShowsAll: whatever runs or is sent after a yes has was in the question,
// and is in the dry run, as text and as JSON.
func TestQuestionShowsAll(t *testing.T) {
	const head = "name: t\ndescription: x\nsecurity: {execution-privilege: elevated, justification: x}\nparameters: {P: {description: p, default: mine}}\n"
	for name, c := range map[string]struct {
		text  string
		shown []string // in the question
		plain []string // in the dry run
	}{
		"environment of the tool": {head + "environment: {BASH_ENV: './evil-{WORKSPACE}'}\nbash: 'true'\n", []string{"BASH_ENV = \"./evil-", "makes programs run code"}, []string{"BASH_ENV", "./evil-"}},
		"environment of a step":   {head + "steps: [{name: s, bash: 'true', environment: {LD_PRELOAD: ./evil.so, GIVEN: '{P}'}}]\n", []string{`LD_PRELOAD = "./evil.so"`, "makes programs run code", `GIVEN = "mine"`}, []string{"LD_PRELOAD", "./evil.so", "GIVEN", "mine"}},
		"in a group":              {head + "steps: [{name: g, steps: [{name: s, bash: 'true', environment: {PATH: ./evil}}]}]\n", []string{`PATH = "./evil"`}, []string{"./evil"}},
		"of a tool inside":        {head + "steps: [{name: s, use-tool: ./inner.yaml}]\n", []string{`PERL5OPT = "-Mevil"`}, []string{"PERL5OPT", "-Mevil"}},
		"of a tool inside, later": {head + "steps: [{name: a, bash: echo}, {name: s, use-tool: ./inner.yaml, with: {N: '{a.output}'}}]\n", []string{`PERL5OPT = "-Mevil"`}, []string{"PERL5OPT", "-Mevil"}},
		"env files":               {head + "env-files: [{path: evil.env, optional: true}]\nsteps: [{name: s, bash: 'true', env-files: [{path: evil2.env, optional: true}]}]\n", []string{"evil.env", "evil2.env"}, []string{"evil.env", "evil2.env"}},
		"input":                   {head + "steps: [{name: s, run: sh, input: 'touch PWN # {P}'}]\n", []string{"touch PWN # mine"}, []string{"touch PWN # mine"}},
		"input of the tool":       {head + "input: touch PWN\nrun: sh\n", []string{"touch PWN"}, []string{"touch PWN"}},
		"notify":                  {head + "notify: [{command: 'touch PWN'}, {webhook: 'http://127.0.0.1:9/evil'}]\nbash: 'true'\n", []string{"touch PWN", "http://127.0.0.1:9/evil"}, []string{"touch PWN", "http://127.0.0.1:9/evil"}},
		"cleanup":                 {head + "bash: 'true'\nresources: {cleanup: [{final-command: touch PWN}]}\n", []string{"touch PWN"}, []string{"touch PWN"}},
		"secrets":                 {head + "environment: {secrets: [{name: A, env: HOME}, {name: B, file: ./key}, {name: C, command: 'echo evil'}]}\nbash: 'true'\n", []string{"A from the variable HOME", "B from the file ./key", "C from the command echo evil"}, []string{"HOME", "./key", "echo evil"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.env = append(s.env, "FLOWRUN_SECURITY_ENFORCE=never") // otherwise a call that may not read its secrets is refused before anybody is asked
			s.write("key", "0123456789")
			s.write("inner.yaml", "description: x\nparameters: {N: {description: n, default: x}}\nenvironment: {PERL5OPT: -Mevil}\nbash: 'true'\n")
			s.write("t.yaml", c.text)
			for _, args := range [][]string{{"call", "./t.yaml", "{}"}, {"run", "./t.yaml"}} {
				screen, _ := s.terminal(s.command(args...), exchange{"Allow this?", "n\r"})
				screen = strings.ReplaceAll(strings.ReplaceAll(screen, "\r", ""), "\n              + ", "")
				for _, want := range c.shown {
					if !strings.Contains(screen, want) {
						t.Errorf("%q does not show %q\n%s", args, want, screen)
					}
				}
			}
			for _, form := range []string{"text", "json"}[:sizetest.Of(1, 2, 2)] {
				out := s.run("run", "--dry-run", "-o", form, "./t.yaml")
				for _, want := range c.plain {
					if !strings.Contains(out.stdout, want) {
						t.Errorf("the dry run (%s) does not show %q\n%s", form, want, out)
					}
				}
			}
			if s.exists("PWN") {
				t.Error("it ran although the answer was no")
			}
		})
	}
	t.Run("node", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.write("t.tool.js", "module.exports = { getMetadata: () => ({ id: 't', description: 'x', runtime: 'node' }), execute: () => 1 }\n")
		screen, _ := s.terminal(s.command("call", "./t.tool.js", "{}"), exchange{"Allow this?", "n\r"})
		if !strings.Contains(screen, `"node", outside the sandbox`) {
			t.Errorf("the question does not say that it runs outside the sandbox\n%s", screen)
		}
		if out := s.run("run", "--dry-run", "-o", "json", "./t.tool.js"); !strings.Contains(out.stdout, `"runtime": "node"`) {
			t.Errorf("nor does the dry run\n%s", out)
		}
	})
}
