package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
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

// TestTwoAnswersAtOnce: two processes that answer two questions of a run at the same moment carry it to its end, and each
// step behind them runs once.
func TestTwoAnswersAtOnce(t *testing.T) {
	for range sizetest.Of(2, 5, 60) {
		dir := t.TempDir()
		flowrun := func(args ...string) *exec.Cmd {
			c := exec.Command("flowrun", args...)
			c.Dir = dir
			c.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir+"/state", "TMPDIR="+dir, "HOME="+dir, "XDG_CONFIG_HOME="+dir+"/config")
			return c
		}
		text := "name: two\ndescription: Asks twice\nsteps:\n"
		for _, branch := range []string{"a", "b"} {
			text += "- {name: " + branch + ", wait-for: [], approve: go}\n- {name: " + branch + "1, wait-for: [" + branch + "], bash: 'echo " + branch + "1 >> done'}\n" +
				"- {name: " + branch + "2, wait-for: [" + branch + "1], bash: 'echo " + branch + "2 >> done'}\n"
		}
		if err := os.WriteFile(filepath.Join(dir, "two.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := flowrun("run", "./two.yaml").CombinedOutput(); err == nil {
			t.Fatalf("it does not wait: %s", out)
		}
		a, b := flowrun("approve", "latest", "a"), flowrun("approve", "latest", "b")
		var outA, outB strings.Builder
		a.Stdout, a.Stderr, b.Stdout, b.Stderr = &outA, &outA, &outB, &outB
		for _, c := range []*exec.Cmd{a, b} {
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
		}
		a.Wait()
		b.Wait()
		done, _ := os.ReadFile(filepath.Join(dir, "done"))
		steps := strings.Fields(string(done))
		slices.Sort(steps)
		if got := strings.Join(steps, " "); got != "a1 a2 b1 b2" || !(a.ProcessState.Success() || b.ProcessState.Success()) {
			show, _ := flowrun("show", "latest").CombinedOutput()
			t.Fatalf("%s ran\n--- a, %v\n%s--- b, %v\n%s--- %s", got, a.ProcessState, &outA, b.ProcessState, &outB, show)
		}
	}
}
