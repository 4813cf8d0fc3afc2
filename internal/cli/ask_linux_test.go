package cli_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

const asking = `
environment: {secrets: [TOKEN]}
parameters:
  CITY: {type: string, description: "Where\x1b[2J to look", required: true, examples: [London], validation: {minLength: 3}}
  UNIT: {type: string, description: it, required: true, validation: {enum: [metric, imperial]}}
  PORT: {type: number, description: it, required: true, validation: {minimum: 1}}
  TOKEN: {type: string, description: it, required: true}
  LOUD: {type: boolean, description: it, required: true}
  GIVEN: {type: string, description: it, required: true}
  NOTE: {type: string, description: it, default: none}
steps:
  - name: tell
    bash: echo {CITY} {UNIT} {PORT} {LOUD} {GIVEN} {NOTE}; test {TOKEN} = tiger && echo right
`

// TestAsked: a person is asked for missing parameters, and asked again until the value is valid.
func TestAsked(t *testing.T) {
	s := sit(t, asking, nil, "GIVEN=x", "--color", "never")
	for _, step := range [][2]string{
		{"CITY: ", "to\r"}, // what is typed earlier would be shown before the question
		{"shorter than 3 characters\r\nCITY: ", "Rome\r"},
		{"UNIT: ", "3\r"},
		{"is not allowed\r\nUNIT: ", "2\r"},
		{"PORT: ", "many\r"},
		{"is not a number\r\nPORT: ", "7\r"},
		{"TOKEN: ", "tiger\r"},
		{"LOUD: ", "yes\r"},
	} {
		s.shows(step[0])
		s.types(step[1])
	}
	screen := s.ends(0)
	for _, want := range []string{"Rome imperial 7 true x none\r\nright\r\n", "CITY (string): Where", "  for example London\r\n", "  2) imperial", "PORT (number)", "LOUD (yes or no)"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen does not show %q, but\n%s", want, screen)
		}
	}
	if strings.Contains(screen, "tiger") || strings.Contains(screen, "\x1b") || strings.Contains(screen, "GIVEN (") || strings.Contains(screen, "NOTE (") {
		t.Errorf("the screen showed %q", screen)
	}
}

// TestNotAnswered: all missing parameters are reported if the person does not answer, or if nobody
// can be asked.
func TestNotAnswered(t *testing.T) {
	without := func(t *testing.T, screen string, asked bool) {
		t.Helper()
		for _, name := range []string{"UNIT", "PORT", "TOKEN", "LOUD"} {
			if !strings.Contains(screen, "flowrun: parameter "+name+": is required") {
				t.Errorf("%s is not said to be missing:\n%s", name, screen)
			}
		}
		if strings.Contains(screen, "UNIT (") != asked {
			t.Errorf("asked: %v:\n%s", !asked, screen)
		}
	}
	t.Run("Ctrl-D", func(t *testing.T) {
		s := sit(t, asking, nil, "GIVEN=x", "CITY=Rome")
		s.shows("UNIT: ")
		s.types("\x04")
		without(t, s.ends(6), true)
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		s := sit(t, asking, nil, "GIVEN=x", "CITY=Rome")
		s.shows("UNIT: ")
		s.types("\x03")
		without(t, s.ends(130), true)
	})
	t.Run("Ctrl-C while nothing is shown", func(t *testing.T) {
		s := sit(t, asking, nil, "GIVEN=x", "CITY=Rome", "UNIT=metric", "PORT=1", "LOUD=true")
		s.shows("TOKEN: ")
		s.types("tig\x03")
		if screen := s.ends(130); strings.Contains(screen, "tig") || !strings.Contains(screen, "parameter TOKEN: is required") {
			t.Errorf("the screen showed\n%s", screen)
		}
	})
	for _, end := range []struct {
		sig  syscall.Signal
		code int
	}{{syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}, {syscall.SIGQUIT, 131}} {
		t.Run(end.sig.String()+" while nothing is shown", func(t *testing.T) {
			s := sit(t, asking, nil, "GIVEN=x", "CITY=Rome", "UNIT=metric", "PORT=1", "LOUD=true")
			s.shows("TOKEN: ")
			s.cmd.Process.Signal(end.sig)
			if screen := s.ends(end.code); strings.Contains(screen, "goroutine") {
				t.Errorf("the screen showed\n%s", screen)
			}
		})
	}
	t.Run("no-input", func(t *testing.T) {
		without(t, sit(t, asking, nil, "GIVEN=x", "CITY=Rome", "--no-input").ends(6), false)
	})
	t.Run("CI", func(t *testing.T) {
		without(t, sit(t, asking, func(c *exec.Cmd) { c.Env = append(c.Env, "CI=true") }, "GIVEN=x", "CITY=Rome").ends(6), false)
	})
	t.Run("something else is wrong", func(t *testing.T) {
		s := sit(t, asking, nil, "CITY=x", "OTHER=y")
		if screen := s.ends(6); !strings.Contains(screen, "OTHER") || !strings.Contains(screen, "shorter than 3") || strings.Contains(screen, "UNIT (") {
			t.Errorf("the screen showed\n%s", screen)
		}
	})
}
