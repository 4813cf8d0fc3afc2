package attack

import (
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// TestCleanupRuns: no value of a caller keeps the cleanup from running after the tool has
// run; and a cleanup that failed is reported.
func TestCleanupRuns(t *testing.T) {
	for name, c := range map[string]struct{ step, rest, value, want string }{
		"dash in cleanup":         {"touch lease", "resources: {cleanup: [{final-command: 'rm lease; echo {X} >rel'}]}", "-z", "cleanup command 1"},
		"dash in the second":      {"touch lease", "resources: {cleanup: [{final-command: 'true'}, {final-command: 'rm {X}'}]}", "-z", "cleanup command 2"},
		"text in arithmetic":      {"touch lease", "resources: {cleanup: [{final-command: 'rm lease; echo $(( {X} + 1 ))'}]}", "a[$(touch PWN)]", "cleanup command 1"},
		"text as a name":          {"touch lease", "resources: {cleanup: [{final-command: 'rm lease; read -r {X} </dev/null'}]}", "a[$(touch PWN)]", "cleanup command 1"},
		"dash in a handler":       {"touch lease; false", "on-failure: [{name: h, bash: 'rm {X}'}]", "-z", "step h"},
		"dash in a last handler":  {"touch lease", "finally: [{name: h, bash: 'rm lease {X}'}]", "-z", "step h"},
		"number in a handler":     {"touch lease", "on-success: [{name: h, bash: 'echo $(( {X} ))'}]", "x", "step h"},
		"dash in a fallback":      {"touch lease; false", "error-handling: {fallback: 'rm {X}'}", "-z", "fallback"},
		"cleanup of a used tool":  {"touch lease", "", "-z", "cleanup command 1"},
		"what cannot be waited":   {"touch lease", "finally: [{name: h, wait: {until: '{X}'}}]", "-1", "step h"},
		"a port that is no place": {"touch lease", "finally: [{name: h, wait: {port: '{X}'}}]", "-1", "step h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			head := "description: x\nparameters: {X: {type: string, description: x}}\n"
			s.write("t.yaml", "name: t\n"+head+"steps:\n  - name: s\n    bash: "+c.step+"\n"+c.rest+"\n")
			if c.rest == "" {
				s.write("used.yaml", "name: used\n"+head+"bash: touch lease\nresources: {cleanup: [{final-command: 'rm lease; echo {X}'}]}\n")
				s.write("t.yaml", "name: t\n"+head+"steps:\n  - {name: s, use-tool: ./used.yaml, with: {X: '{X}'}}\n")
			}
			out := s.run("run", "./t.yaml", "X="+c.value)
			if s.exists("lease") || s.exists("PWN") || out.code == 0 || !strings.Contains(out.stderr, c.want) {
				t.Errorf("lease: %v\n%s", s.exists("lease"), out)
			}
		})
	}
	t.Run("a failure is reported", func(t *testing.T) {
		t.Parallel()
		s := newSite(t)
		s.write("t.yaml", "name: t\ndescription: x\ntags: [read]\nbash: echo x\nresources: {cleanup: [{final-command: 'echo gone >&2; exit 3'}]}\n")
		for _, args := range [][]string{{"run", "./t.yaml"}, {"runs"}, {"show", "latest"}} {
			if out := s.run(args...); out.code != 0 || !strings.Contains(out.stdout+out.stderr, "succeeded (cleanup failed)") {
				t.Errorf("%q: %s", args, out)
			}
		}
		if out := s.run("call", "./t.yaml", "{}", "--auto-approve", "*"); !strings.Contains(out.stdout, "cleanup failed: cleanup command 1") {
			t.Errorf("%s", out)
		}
	})
}

// TestEndlessTransform: a transform that never ends costs one time limit, however often the parameters are read: the
// processor has not worked for a second one.
func TestEndlessTransform(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("t.yaml", "name: t\ndescription: x\ntags: [read]\nparameters: {X: {type: string, description: x, transform: '(() => { while (true) {} })()'}}\nbash: echo {X}\n")
	s.env = append(s.env, "FLOWRUN_LIMITS_JS_TIMEOUT=500ms")
	for _, args := range [][]string{{"run", "./t.yaml", "X=a"}, {"call", "./t.yaml", `{"X":"a"}`, "--auto-approve", "*"}} {
		if m := s.measure(args...); m.code != 6 || !strings.Contains(m.stdout+m.stderr, "500ms") || m.user > 950*time.Millisecond {
			t.Errorf("%v of the processor: %s", m.user, m)
		}
	}
}

// TestMaskedForms: a secret that a step prints escaped for HTML, or as JSON in JSON, is
// hidden in the output and in the history.
func TestMaskedForms(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	needtest.Programs(t, "python3")
	const secret = `hunter"2<&>'\x`
	s.write("t.yaml", `name: t
description: x
parameters: {P: {type: string, description: x}}
environment: {secrets: [P]}
steps:
  - name: s
    environment: {variables: {V: "{P}"}}
    bash: |
      python3 -c '
      import os, html, json
      v = os.environ["V"]
      print(html.escape(v)); print(html.escape(v, quote=False))
      print(json.dumps({"a": json.dumps({"b": v})})); print(json.dumps(v))
      '
`)
	out := s.run("run", "./t.yaml", "P="+secret)
	out.stdout += s.run("logs", "latest", "s").stdout + s.run("show", "latest", "-o", "json").stdout
	if out.code != 0 || strings.Contains(out.stdout, "hunter") || !strings.Contains(out.stdout, "***") {
		t.Errorf("%s", out)
	}
}
