package cli_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"github.com/flowrun/flowrun/internal/test/screentest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// seeing is a seat at a terminal of a given size, whose screen can be read.
type seeing struct {
	*seat
	shown *screentest.Screen
	taken int // bytes of what was written that the screen has
}

func watch(t *testing.T, cols, rows int, definition string, flags ...string) *seeing {
	t.Helper()
	s := &seeing{shown: screentest.New(cols, rows)}
	s.seat = sit(t, definition, func(c *exec.Cmd) {
		c.Env = append(c.Env, "LC_ALL=C.UTF-8", "TERM=xterm")
	}, append([]string{"--progress", "tty"}, flags...)...)
	s.resize(cols, rows)
	return s
}

func (s *seeing) resize(cols, rows int) {
	s.shown.Resize(cols, rows)
	pty.Setsize(s.tty, &pty.Winsize{Rows: uint16(rows), Cols: uint16(cols)})
}

// screenText is what is on the screen now.
func (s *seeing) screenText() string {
	all := s.seen()
	s.shown.Write([]byte(all[s.taken:]))
	s.taken = len(all)
	return s.shown.String()
}

// waits until the screen shows a text.
func (s *seeing) waits(text string) {
	s.Helper()
	if !waittest.Holds(waittest.Limit, func() bool { return strings.Contains(s.screenText(), text) }) {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.Fatalf("the screen never showed %q, but\n%s", text, s.screenText())
	}
}

// leaves waits for the end of the command, and returns what is left on the screen.
func (s *seeing) leaves(code int) string {
	s.Helper()
	s.ends(code)
	text := s.screenText()
	if f := s.shown.Unknown(); len(f) > 0 {
		s.Errorf("the terminal was sent %q", f)
	}
	if strings.Count("\n"+text, "\n it ") != 1 {
		s.Errorf("not one header is left:\n%s", text)
	}
	return text
}

// living is a definition that runs until the test creates the file gate.
const living = `
steps:
  - name: first
    bash: echo done at once
  - name: hostile
    bash: |
      printf 'before\n\033[2J\033[H\033]0;title\007evil\rprogress 50%%\033[31m\n'
      until test -e gate; do sleep 0.02; done
      printf 'last words\033[2J\n' >&2; exit 3
  - name: beside
    parallel: true
    for-each: {items: [a, b, c], max-parallel: 1}
    bash: until test -e gate; do sleep 0.02; done
  - name: ship
    bash: echo never
`

func (s *seeing) open() {
	if err := os.WriteFile(s.dir+"/gate", nil, 0o600); err != nil {
		s.Fatal(err)
	}
}

// The view through a real terminal, at three sizes.
func TestViewOnTerminal(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {200, 60}} {
		t.Run("", func(t *testing.T) {
			s := watch(t, size[0], size[1], living)
			s.waits("progress 50%")
			s.waits("×3 ▁▁▁▁▁▁▁▁ 0/3")
			if size[1] > 10 {
				s.waits("○ ship  waits: hostile, beside")
			}
			s.open()
			text := s.leaves(1)
			for _, want := range []string{"failed", "✖ hostile  FAILED exit 3", "✔ beside", "hostile  FAILED exit 3\n        $ printf", "it.yaml:7", "\n        | last words\n", "flowrun: to continue: flowrun resume"} {
				if !strings.Contains(text, want) {
					t.Errorf("the screen does not show %q, but\n%s", want, text)
				}
			}
			if strings.Contains(text, "▁") {
				t.Errorf("something of the live region is left:\n%s", text)
			}
		})
	}
}

// TestViewResizedOnTerminal: the size of the window changes during the run.
func TestViewResizedOnTerminal(t *testing.T) {
	s := watch(t, 40, 10, living)
	s.waits("0/3")
	s.resize(200, 60)
	s.waits("○ ship  waits: hostile, beside")
	s.resize(80, 24)
	s.waits("0/3")
	s.open()
	s.leaves(1)
}

// TestViewOfRetry: a retry is a new run, so failures of the old run are not shown again.
func TestViewOfRetry(t *testing.T) {
	s := &seeing{shown: screentest.New(80, 24)}
	s.seat = sit(t, `
parameters:
  BREAK: {type: boolean, description: Whether the second step fails, default: true}
steps:
  - name: first
    bash: echo one
  - name: second
    bash: "! {BREAK}"
  - name: third
    bash: echo three
`, func(c *exec.Cmd) {
		c.Env = append(c.Env, "LC_ALL=C.UTF-8", "TERM=xterm")
		old := exec.Command(c.Path, "run", "./it.yaml")
		old.Dir, old.Env = c.Dir, c.Env
		if out, err := old.CombinedOutput(); old.ProcessState.ExitCode() != 1 {
			t.Fatalf("the first run: %v\n%s", err, out)
		}
		c.Args = []string{"flowrun", "retry", "latest", "--with", "BREAK=false", "--progress", "tty"}
	})
	s.resize(80, 24)
	text := s.leaves(0)
	for _, want := range []string{"succeeded", "3/3 done\n", "≡ first", "✔ second", "✔ third"} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen does not show %q, but\n%s", want, text)
		}
	}
	if strings.Contains(text, "FAILED") || strings.Contains(text, "skipped") {
		t.Errorf("the screen reports the old run:\n%s", text)
	}
}

// TestViewWithOutput: the output of the run and streamed output scroll above the view. An
// unfinished line is ended.
func TestViewWithOutput(t *testing.T) {
	s := watch(t, 80, 24, `
steps:
  - name: streams
    bash: |
      printf 'one\n\033[2Jtwo\n'; until test -e gate; do sleep 0.02; done
    output: {mode: stream}
  - name: result
    bash: printf 'the\033[1mresult\033[0m\nno end'
`, "--color", "always")
	s.waits("streams | one\nstreams | two\n it ")
	s.open()
	if text := s.leaves(0); !strings.Contains(text, "streams | two\ntheresult\nno end\n it ") || !strings.Contains(text, "succeeded") {
		t.Errorf("the screen shows\n%s", text)
	}
}

// TestViewBesideReader: a program that reads the output from a pipe may write to the same terminal,
// and the view does not overwrite it.
func TestViewBesideReader(t *testing.T) {
	s := &seeing{shown: screentest.New(80, 24)}
	s.seat = sit(t, `
steps:
  - name: first
    bash: until test -e ask; do sleep 0.02; done
  - name: result
    bash: echo the result; until test -e gate; do sleep 0.02; done
`, func(c *exec.Cmd) {
		c.Env = append(c.Env, "LC_ALL=C.UTF-8", "TERM=xterm")
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", "flowrun run ./it.yaml --progress tty | cat"}
	})
	s.resize(80, 24)
	s.waits("● first")
	if err := os.WriteFile(s.dir+"/ask", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.waits("the result\n")
	s.open()
	if text := s.leaves(0); !strings.HasPrefix(text, "the result\n it ") {
		t.Errorf("the screen shows\n%s", text)
	}
}

// An interactive step has the screen to itself.
func TestViewWithQuestion(t *testing.T) {
	s := watch(t, 80, 24, `
steps:
  - name: beside
    bash: until test -e gate; do sleep 0.02; done
  - name: asks
    parallel: true
    interactive: true
    bash: until test -e ask; do sleep 0.02; done; read -p 'name? ' n; echo "hi $n"; printf open
`)
	if err := os.WriteFile(s.dir+"/ask", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.waits("name?")
	if text := s.screenText(); strings.Contains(text, "beside") {
		t.Errorf("the view is on the screen:\n%s", text)
	}
	s.types("Ada\r")
	s.waits("open\n it ")
	s.open()
	if text := s.leaves(0); !strings.HasPrefix(text, "name? Ada\nhi Ada\nopen\n it ") {
		t.Errorf("the screen shows\n%s", text)
	}
}

// TestViewCtrlC: after Ctrl-C, the view shows immediately what is being stopped, and what a second
// Ctrl-C does.
func TestViewCtrlC(t *testing.T) {
	const stops = `
resources: {cleanup: [{final-command: 'touch cleaning; until test -e gate; do sleep 0.02; done'}]}
steps:
  - name: a
    bash: echo ready; sleep 300
  - name: b
    parallel: true
    bash: echo ready; sleep 300
`
	t.Run("once", func(t *testing.T) {
		s := watch(t, 80, 24, stops)
		s.waits("│ ready\n ● b")
		s.waits("2 running")
		s.types("\x03")
		s.waits("Stopping 2 steps, cleanup running... Ctrl-C again to force\n")
		s.waits("● cleanup")
		s.open()
		if text := s.leaves(130); !strings.Contains(text, "cancelled") || !strings.Contains(text, "✔ cleanup") {
			t.Errorf("the screen shows\n%s", text)
		}
	})
	t.Run("twice", func(t *testing.T) {
		s := watch(t, 80, 24, stops)
		s.waits("2 running")
		s.types("\x03")
		s.waits("● cleanup")
		time.Sleep(400 * time.Millisecond) // before, nobody can have read how to force
		s.types("\x03")
		s.leaves(130)
	})
}
