package command

import (
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/sshdtest"
)

// TestSSH: a worker that has the keys runs steps on another machine, with their outputs, values and errors.
func TestSSH(t *testing.T) {
	s := sshdtest.Start(t)
	r := prepare(t, `
name: t
parameters: {WHO: {type: string}}
steps:
  - {name: a, ssh: `+s.YAML()+`, outputs: {v: {}}, bash: 'echo "v={WHO}" >> "$FLOWRUN_OUTPUT"; [ -n "$SSH_CONNECTION" ] && echo there'}
  - {name: b, ssh: `+s.YAML()+`, bash: 'exit 3', continue-on-error: true}
  - {name: c, ssh: {host: 127.0.0.1, port: 1, user: x}, bash: 'true', continue-on-error: true}
  - {name: d, bash: 'echo {a.output} {a.outputs.v} {b.exit-code} {c.status}'}
`, map[string]any{"WHO": "Ada; exit 1"}).run()
	if r.Status != dag.Succeeded || r.Output != "there Ada; exit 1 3 failed\n" || r.Step("c").Reason != "ssh-connection" {
		t.Errorf("%v %q %s", r.Status, r.Output, r.Message)
	}
	if left := s.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}
