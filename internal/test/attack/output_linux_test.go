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
	id := strings.Fields(s.run("show", "latest").stdout)[1] // latest of resume and cancel is a run that they can act on
	for _, args := range [][]string{{"runs"}, {"show", "latest"}, {"resume", id}, {"cancel", id}} {
		if out := s.run(args...); !strings.Contains(out.stdout+out.stderr, want) {
			t.Errorf("%s does not say %q\n%s", args[0], want, out)
		}
	}
	if out := s.run("runs", "-o", "json"); !strings.Contains(out.stdout, `"status": "succeeded"`) {
		t.Errorf("the status in JSON has another value\n%s", out)
	}
}

// TestOutputOfAnother: a run without success does not print what another step printed
// as its result.
func TestOutputOfAnother(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for name, c := range map[string]struct{ top, steps, want string }{
		"the last did not run":       {"", "[{name: a, bash: echo A-OUT}, {name: b, bash: exit 3}, {name: c, bash: echo C-OUT}]", ""},
		"one in between failed":      {"", "[{name: a, bash: echo A-OUT}, {name: b, bash: echo B-OUT; exit 3}, {name: c, bash: echo C-OUT}]", ""},
		"it timed out":               {"timeout: 300ms\n", "[{name: a, bash: echo A-OUT}, {name: b, bash: sleep 60}]", ""},
		"the named step ran":         {"output: '{a.output}'\n", "[{name: a, bash: echo A-OUT}, {name: b, bash: exit 3}]", "A-OUT"},
		"the named step did not run": {"output: '{a.output}{b.output}'\n", "[{name: a, bash: echo A-OUT; exit 3}, {name: b, bash: echo B-OUT}]", ""},
		"the last ran":               {"", "[{name: a, bash: echo A-OUT}, {name: b, bash: echo B-OUT; exit 3}]", "B-OUT"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			s.write("t.yaml", "name: t\ndescription: x\n"+c.top+"steps: "+c.steps+"\n")
			if out := s.run("run", "./t.yaml"); out.code == 0 || strings.TrimSpace(out.stdout) != c.want {
				t.Errorf("want %q on stdout\n%s", c.want, out)
			}
		})
	}
}

// TestLengthOfSecret: what is said of a masked output is the same whatever the length of
// the secret.
func TestLengthOfSecret(t *testing.T) {
	t.Parallel()
	look := func(secret string) string {
		s := newSite(t)
		s.env = append(s.env, "TOKEN="+secret)
		s.write("t.yaml", "name: t\ndescription: x\nenvironment: {secrets: [TOKEN]}\nsteps:\n  - name: s\n    bash: echo \"token $TOKEN\"; exit 1\n")
		out := s.run("run", "./t.yaml", "--progress", "github")
		events := s.run("events", "latest")
		if strings.Contains(out.stdout+out.stderr, "more bytes") || !strings.Contains(events.stdout, `"masked":true`) {
			t.Errorf("the end of the output is reported wrong\n%s\n%s", out, events)
		}
		_, size, _ := strings.Cut(events.stdout, `"size":`)
		size, _, _ = strings.Cut(size, ",")
		return size
	}
	if short, long := look("abcd-1234"), look("abcd-1234-that-is-a-much-longer-secret"); short == "" || short != long {
		t.Errorf("the size of the output is %s with a short secret, %s with a long one", short, long)
	}
}

// TestHandlersAreSeen: what handlers and cleanup print is seen while the run continues.
func TestHandlersAreSeen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("t.yaml", `name: t
description: x
steps:
  - {name: a, bash: exit 3}
on-failure:
  - {name: tell, bash: echo TOLD; echo TOLD-ERR >&2}
finally:
  - {name: end, bash: echo ENDED}
resources:
  cleanup:
    - final-command: echo CLEANED
`)
	out := s.run("run", "./t.yaml")
	for _, want := range []string{"tell | TOLD\n", "tell | TOLD-ERR\n", "end  | ENDED\n", "| CLEANED\n"} {
		if !strings.Contains(out.stderr, want) {
			t.Errorf("%q is not on stderr\n%s", want, out)
		}
	}
	if doc := s.run("show", "latest", "-o", "json"); out.stdout != "" || !strings.Contains(doc.stdout, `"CLEANED\n"`) {
		t.Errorf("not in the document, or on stdout\n%s\n%s", out, doc)
	}
}

// TestTerminalIsLeftAlone: what a step prints does nothing on a terminal but show, and
// arrives byte for byte elsewhere.
func TestTerminalIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const evil = "\x1b]52;c;cHduCg==\x07\x1b]0;PWN\x07\x1b[2J\x1b[31mred\x1b[0m\n"
	s.write("evil", evil)
	s.write("t.yaml", "name: t\ndescription: x\nsteps:\n  - {name: s, bash: cat evil; cat evil >&2}\n  - {name: u, bash: cat evil}\nfinally: [{name: f, bash: cat evil}]\n")
	if out := s.run("run", "./t.yaml"); out.stdout != evil {
		t.Errorf("a pipe did not get the bytes: %q", out.stdout)
	}
	for _, args := range [][]string{
		{"run", "./t.yaml", "--progress", "plain"}, {"run", "./t.yaml", "--progress", "none"}, {"run", "./t.yaml", "--progress", "tty"},
		{"run", "./t.yaml", "--progress", "none", "-o", "combined"}, {"logs", "latest", "s"}, {"logs", "latest"},
	} {
		screen, _ := s.terminal(s.command(args...))
		if strings.Contains(screen, "\x1b]") || strings.Contains(screen, "\x1b[2J") || !strings.Contains(screen, "red") {
			t.Errorf("%q shows %q", args, screen)
		}
	}
	if out := s.run("logs", "latest", "s"); out.stdout != evil || out.stderr != evil {
		t.Errorf("a pipe did not get the bytes: %q %q", out.stdout, out.stderr)
	}
}

// TestCutIsSaid: who reads less than was printed hears of it, and so does who looks later.
func TestCutIsSaid(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.write("t.yaml", `name: t
description: x
steps:
  - {name: a, bash: 'printf 0123456789', output: {buffer-limit: 5}}
  - {name: b, bash: 'echo {a.output}'}
  - {name: c, bash: 'echo {a.output}'}
  - {name: d, bash: 'printf "caf\351\n"'}
`)
	out := s.run("run", "./t.yaml")
	if strings.Count(out.stderr, "was cut at the buffer-limit of step a") != 1 {
		t.Errorf("the run does not say once that a value was cut\n%s", out)
	}
	if out := s.run("show", "latest"); !strings.Contains(out.stdout, "output truncated") {
		t.Errorf("show does not say it\n%s", out)
	}
	if out := s.run("logs", "latest", "a"); out.stdout != "0123456789" || !strings.Contains(out.stderr, "exceeds its buffer-limit") {
		t.Errorf("logs does not say it\n%s", out)
	}
	for _, args := range [][]string{{"run", "./t.yaml", "-o", "json"}, {"show", "latest", "-o", "json"}} {
		if out := s.run(args...); strings.Count(out.stdout, `"invalid_utf8": true`) != 2 { // of the run and of the step
			t.Errorf("%q does not say that bytes were replaced\n%s", args, out)
		}
	}
}
