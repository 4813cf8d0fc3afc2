package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// elevated is a tool that a person has to approve. It creates a file when it runs.
const elevated = `
tags: [write]
parameters:
  DIR: {type: string, description: Where, default: ../../etc}
  TOKEN: {type: string, description: A secret}
environment: {secrets: [TOKEN]}
security:
  execution-privilege: elevated
  required-permissions: ["filesystem:write:{DIR}"]
  justification: "Safe.\n\e[2J\u202eAllow this? [y/N/d] y"
resources:
  cleanup:
    - final-command: echo the end
bash: |
  touch done
  echo "in {DIR} with {TOKEN}"
`

// asked waits until the question was asked n times. Input from before the question is discarded.
func (s *seat) asked(n int) {
	s.Helper()
	waittest.Until(s, fmt.Sprintf("question number %d", n), func() bool { return strings.Count(s.seen(), "\r\nAllow this? [y/N/d] ") >= n }, func() any { return s.seen() })
}

func (s *seat) ran() bool {
	_, err := os.Stat(filepath.Join(s.dir, "done"))
	return err == nil
}

// audit returns the audit log.
func (s *seat) audit() string {
	s.Helper()
	cmd := exec.Command("flowrun", "history", "audit", "-o", "json")
	cmd.Env = s.cmd.Env
	out, err := cmd.Output()
	if err != nil {
		s.Error(err)
	}
	return string(out)
}

func TestConsentGiven(t *testing.T) {
	s := sit(t, elevated, nil, "TOKEN=hunter22")
	s.asked(1)
	for _, want := range []string{`tool          "it"`, `rights      "elevated"`, `"filesystem:write:`, `/etc"`, `written "filesystem:write:{DIR}"`,
		`parameter     TOKEN = "***"`, `| touch done`, `cleanup     | echo the end`, `<U+001B>[2J<U+202E>`} {
		if !strings.Contains(s.seen(), want) {
			t.Errorf("the prompt does not say %s", want)
		}
	}
	if strings.Contains(s.seen(), "../../etc\"\r\n  needs") || strings.ContainsAny(s.seen(), "\x1b\u202e") {
		t.Errorf("the prompt was deceived: %q", s.seen())
	}
	s.types("d\n")
	s.asked(2)
	s.types("y\n")
	seen := s.ends(0)
	if !s.ran() || strings.Contains(seen, "hunter22") {
		t.Errorf("ran %v: %s", s.ran(), seen)
	}
	if a := s.audit(); !strings.Contains(a, `"verdict": "approved"`) || !strings.Contains(a, `"by": "terminal"`) || !strings.Contains(a, `"run": "`) ||
		!strings.Contains(a, `/etc"`) || strings.Contains(a, "hunter22") {
		t.Error(a)
	}
}

func TestConsentRefused(t *testing.T) {
	for name, keys := range map[string]string{"no": "n\n", "nothing": "\n", "a word": "yikes\n", "Ctrl-C": "\x03", "Ctrl-D": "\x04"} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, elevated, nil, "TOKEN=hunter22", "--auto-approve", "*")
			s.asked(1)
			s.types(keys)
			seen := s.ends(5)
			if s.ran() || !strings.Contains(seen, "and the answer was no") || !strings.Contains(seen, "Permission not granted: filesystem:write:") {
				t.Errorf("ran %v: %s", s.ran(), seen)
			}
			if a := s.audit(); !strings.Contains(a, `"verdict": "refused"`) || !strings.Contains(a, `"by": "terminal"`) {
				t.Error(a)
			}
		})
	}
}

// TestTrustAsked: a project's settings are asked about once, and again when they change.
func TestTrustAsked(t *testing.T) {
	config := func(text string) func(*exec.Cmd) {
		return func(c *exec.Cmd) {
			dir := filepath.Join(c.Dir, ".flowrun")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := sit(t, "bash: touch done\n", config("history: {keep: 5}\n"))
	s.shows("Trust this project? [y/N] ")
	s.types("n\n")
	if seen := s.ends(0); !strings.Contains(seen, `history.keep = "5"`) || !strings.Contains(seen, "ignoring history.keep") || !s.ran() {
		t.Error(seen)
	}
	again := func(want, not string) {
		t.Helper()
		cmd := exec.Command("flowrun", "run", "./it.yaml")
		cmd.Dir, cmd.Env = s.dir, s.cmd.Env
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), want) || not != "" && strings.Contains(string(out), not) {
			t.Errorf("%v: %s", err, out)
		}
	}
	again("ignoring history.keep", "Trust this project")
	trust := exec.Command("flowrun", "trust")
	trust.Dir, trust.Env = s.dir, s.cmd.Env
	if out, err := trust.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	again("", "ignoring")
	config("history: {keep: 6}\n")(s.cmd)
	again("ignoring history.keep", "")
}
