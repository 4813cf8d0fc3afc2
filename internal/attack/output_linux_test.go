package attack

import (
	"strings"
	"testing"
)

// TestToleratedIsSaid: a run that succeeded over failures does not look like one that
// had none, wherever its status is shown.
func TestToleratedIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("t.yaml", "name: t\ndescription: x\nignore-errors: true\nsteps:\n  - {name: a, bash: exit 1}\n  - {name: b, bash: exit 2}\n  - {name: c, bash: exit 3}\n")
	const want = "succeeded (3 tolerated)"
	if out := s.run("run", "./t.yaml"); out.code != 0 || !strings.Contains(out.stderr, want) {
		t.Errorf("run does not say %q\n%s", want, out)
	}
	screen, _ := s.terminal(s.command("run", "./t.yaml", "--progress", "tty"))
	if !strings.Contains(screen, want+"  ") {
		t.Errorf("the live view does not say %q\n%s", want, screen)
	}
	for _, args := range [][]string{{"runs"}, {"show", "latest"}, {"resume", "latest"}, {"cancel", "latest"}} {
		if out := s.run(args...); !strings.Contains(out.stdout+out.stderr, want) {
			t.Errorf("%s does not say %q\n%s", args[0], want, out)
		}
	}
	if out := s.run("runs", "-o", "json"); !strings.Contains(out.stdout, `"status": "succeeded"`) {
		t.Errorf("the status in JSON has another value\n%s", out)
	}
}
