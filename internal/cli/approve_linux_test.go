package cli_test

import (
	"strings"
	"testing"
)

const gated = `
idempotent: true
steps:
  - name: build
    bash: echo built
  - name: gate
    approve:
      prompt: "Release {build.output}?\n\e[2Jsecond line"
      form:
        properties:
          REGION: {type: string, enum: [eu, us], description: "the data\e[31m centre"}
          PERCENT: {type: integer, minimum: 1, maximum: 100, default: 10}
          LOUD: {type: boolean}
          NOTE: {type: string}
        required: [REGION, LOUD]
  - name: release
    bash: echo released {gate.json.REGION} {gate.json.PERCENT} {gate.json.LOUD}
`

// TestApproveAtTerminal: a person at the terminal is asked field by field, and again until the
// value is valid, also in the live view.
func TestApproveAtTerminal(t *testing.T) {
	for _, mode := range []string{"plain", "tty"} {
		t.Run(mode, func(t *testing.T) {
			s := sit(t, gated, nil, "--progress", mode, "--color", "never")
			for _, step := range [][2]string{
				{"[l]ater? ", "what\r"},
				{"[l]ater? ", "a\r"},
				{"REGION (text)", "3\r"},
				{"is not one of eu, us", "2\r"},
				{"PERCENT [10]: ", "500\r"},
				{"PERCENT [10]: ", "50\r"},
				{"LOUD (yes or no)", "yes\r"},
				{"NOTE (text, optional)", "\r"},
			} {
				s.shows(step[0])
				s.types(step[1])
			}
			screen := s.ends(0)
			for _, want := range []string{"released us 50 true", "Approve?", "| Release built?", "second line", "  2) us"} {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen does not show %q, but\n%s", want, screen)
				}
			}
			if strings.Contains(screen, "\x1b[2J") || strings.Contains(screen, "\x1b[31m") {
				t.Errorf("the prompt's escape sequences reached the terminal: %q", screen)
			}
		})
	}
}

// TestRejectAtTerminal: a person who rejects gives a reason. If the person answers "later", or the
// terminal closes, the run stays waiting.
func TestRejectAtTerminal(t *testing.T) {
	s := sit(t, gated, nil, "--progress", "plain")
	s.shows("[l]ater? ")
	s.types("r\r")
	s.shows("reason (optional): ")
	s.types("not today\r")
	if screen := s.ends(1); !strings.Contains(screen, "rejected by") || !strings.Contains(screen, ": not today") {
		t.Errorf("the screen showed\n%s", screen)
	}
	for name, keys := range map[string]string{"later": "l\r", "Ctrl-D": "\x04"} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, gated, nil, "--progress", "plain")
			s.shows("[l]ater? ")
			s.types(keys)
			if screen := s.ends(7); !strings.Contains(screen, "flowrun approve ") {
				t.Errorf("the screen showed\n%s", screen)
			}
		})
	}
	t.Run("Ctrl-C", func(t *testing.T) {
		s := sit(t, gated, nil, "--progress", "plain")
		s.shows("[l]ater? ")
		s.types("\x03")
		if screen := s.ends(130); !strings.Contains(screen, "cancelled") {
			t.Errorf("the screen showed\n%s", screen)
		}
	})
	t.Run("no-input", func(t *testing.T) {
		if screen := sit(t, gated, nil, "--no-input").ends(7); strings.Contains(screen, "[l]ater?") {
			t.Errorf("the screen showed\n%s", screen)
		}
	})
}
