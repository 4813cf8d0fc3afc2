//go:build unix

package builtin

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// folders are a workspace with a folder, a file and links, and one outside of it.
func folders(t *testing.T) (workspace, outside string) {
	t.Helper()
	workspace, outside = t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(workspace, "sub"), 0o755),
		os.WriteFile(filepath.Join(workspace, "file"), nil, 0o644),
		os.Symlink(outside, filepath.Join(workspace, "out")),
		os.Symlink("sub", filepath.Join(workspace, "in")),
		os.Symlink("loop", filepath.Join(workspace, "loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return workspace, outside
}

func TestRunShellCommand(t *testing.T) {
	workspace, outside := folders(t)
	sub := filepath.Join(workspace, "sub")
	for _, c := range []struct {
		name   string
		params map[string]any
		fails  bool
		want   string
	}{
		{"both streams", map[string]any{"command": "echo out; echo err >&2"}, false, "Stdout: out\nStderr: err\nExit code: 0\n"},
		{"nothing", map[string]any{"command": "true"}, false, "Stdout: (empty)\nStderr: (empty)\nExit code: 0\n"},
		{"raw", map[string]any{"command": `A='{x} $B'; echo "$A" {command} "{RAW:command}" $((1+1)) '"' | cat`}, false, `Stdout: {x} $B {command} {RAW:command} 2 "`},
		{"several lines", map[string]any{"command": "for i in 1 2\ndo\n  echo $i\ndone"}, false, "Stdout: 1\n2\n"},
		{"here document", map[string]any{"command": "cat <<'END'\n$HOME {a}\nEND\n"}, false, "Stdout: $HOME {a}"},
		{"nobody types", map[string]any{"command": "cat"}, false, "Stdout: (empty)"},
		{"workspace", map[string]any{"command": "pwd -P"}, false, real(t, workspace)},
		{"relative", map[string]any{"command": "pwd -P", "directory": "sub"}, false, real(t, sub)},
		{"absolute", map[string]any{"command": "pwd -P", "directory": sub}, false, real(t, sub)},
		{"link inside", map[string]any{"command": "pwd -P", "directory": "in"}, false, real(t, sub)},
		{"long", map[string]any{"command": "echo " + strings.Repeat("x", 99_000)}, false, "xxx"},
		{"long output", map[string]any{"command": "head -c 300000 /dev/zero | tr '\\0' a"}, false, "[Stdout cut: 100000 of 300000 bytes]"},
		{"no UTF-8", map[string]any{"command": `printf '\377\376'`}, false, "Exit code: 0"},

		{"exit code", map[string]any{"command": "echo gone; echo wrong >&2; exit 7"}, true, "wrong"},
		{"no program", map[string]any{"command": "no-such-program-here"}, true, "no-such-program-here"},
		{"bad shell", map[string]any{"command": "echo 'open"}, true, "unexpected"},
		{"outside", map[string]any{"command": "pwd", "directory": outside}, true, "is outside the folders"},
		{"link outside", map[string]any{"command": "pwd", "directory": "out"}, true, "is outside the folders"},
		{"up", map[string]any{"command": "pwd", "directory": ".."}, true, "is outside the folders"},
		{"up and down", map[string]any{"command": "pwd", "directory": "sub/../.."}, true, "is outside the folders"},
		{"root", map[string]any{"command": "pwd", "directory": "/"}, true, "is outside the folders"},
		{"missing", map[string]any{"command": "pwd", "directory": "none"}, true, `"` + filepath.Join(workspace, "none") + `" does not exist`},
		{"a file", map[string]any{"command": "pwd", "directory": "file"}, true, "is not a folder"},
		{"a loop", map[string]any{"command": "pwd", "directory": "loop"}, true, "form a loop"},
		{"NUL in it", map[string]any{"command": "pwd", "directory": "a\x00b"}, true, "NUL"},
		{"empty", map[string]any{"command": " \n"}, true, "the command is empty"},
		{"NUL", map[string]any{"command": "echo \x00"}, true, "NUL"},
		{"background with timeout", map[string]any{"command": "true", "is_background": true, "timeout": 5}, true, "timeout does not apply"},
		{"too long", map[string]any{"command": strings.Repeat("x", 100_001)}, true, "100000"},
		{"no command", map[string]any{}, true, "command"},
		{"another parameter", map[string]any{"command": "true", "cwd": "/"}, true, "cwd"},
		{"timeout 0", map[string]any{"command": "true", "timeout": 0}, true, "timeout"},
	} {
		t.Run(c.name, func(t *testing.T) {
			want(t, perform(t, t.Context(), Config{}, workspace, "run_shell_command", c.params), c.fails, c.want)
		})
	}
	t.Run("granted", func(t *testing.T) {
		want(t, perform(t, t.Context(), Config{Roots: []string{outside}}, workspace, "run_shell_command", map[string]any{"command": "pwd -P", "directory": "out"}), false, real(t, outside))
	})
	t.Run("output is what was printed", func(t *testing.T) {
		if r := perform(t, t.Context(), Config{}, workspace, "run_shell_command", map[string]any{"command": "echo a; echo b >&2"}); r.Output != "a\n" {
			t.Errorf("the output is %q", r.Output)
		}
	})
}

func real(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestShellStops: a command that is stopped ends with all that it started, whatever it makes
// of being asked to.
func TestShellStops(t *testing.T) {
	const family = `trap '' TERM; (trap '' TERM; echo $BASHPID > child; exec sleep 1000) & echo $$ > parent; wait; sleep 1000`
	stops := func(ctx context.Context, workspace string, status dag.Status, params map[string]any) {
		t.Helper()
		r := perform(t, ctx, Config{}, workspace, "run_shell_command", params)
		if s := r.Step("run_shell_command"); s == nil || s.Status != status {
			t.Errorf("the step is %+v", s)
		}
	}
	for limit := 200; ; limit *= 4 { // until it has started what it is to start
		workspace := t.TempDir()
		stops(t.Context(), workspace, dag.TimedOut, map[string]any{"command": family, "timeout": limit})
		if pids, _ := filepath.Glob(filepath.Join(workspace, "*")); len(pids) == 2 {
			gone(t, number(t, filepath.Join(workspace, "parent")))
			gone(t, number(t, filepath.Join(workspace, "child")))
			break
		}
	}
	workspace := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		number(t, filepath.Join(workspace, "child"))
		cancel()
	}()
	stops(ctx, workspace, dag.Cancelled, map[string]any{"command": family})
	gone(t, number(t, filepath.Join(workspace, "parent")))
	gone(t, number(t, filepath.Join(workspace, "child")))
}

// number waits for a file that holds one.
func number(t *testing.T, path string) (n int) {
	t.Helper()
	waittest.Until(t, "number in "+path, func() bool {
		b, _ := os.ReadFile(path)
		n, _ = strconv.Atoi(strings.TrimSpace(string(b)))
		return strings.HasSuffix(string(b), "\n")
	})
	return n
}

// gone waits until a process has ended.
func gone(t *testing.T, pid int) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("end of process %d", pid), func() bool { return syscall.Kill(pid, 0) != nil || ended(pid) })
}

// ended says whether a process waits for nobody but its parent to ask about it.
func ended(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(b), ") Z ")
}

// TestBackground: what is left running outlives the run, and can be ended as the result says.
func TestBackground(t *testing.T) {
	workspace := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	r := perform(t, t.Context(), Config{}, workspace, "run_shell_command",
		map[string]any{"command": "echo ready; echo $$ > pid; sleep 1000 & wait", "is_background": true})
	want(t, r, false, "started in the background")
	told := regexp.MustCompile(`(?s)Output: (\S+)\n.*kill -- -(\d+)`).FindStringSubmatch(r.Output)
	if told == nil {
		t.Fatalf("it reads %q", r.Output)
	}
	pid := number(t, filepath.Join(workspace, "pid"))
	if syscall.Kill(pid, 0) != nil || ended(pid) {
		t.Error("the command has ended with the run")
	}
	group, _ := strconv.Atoi(told[2])
	if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
		t.Errorf("cannot end %d: %v", group, err)
	}
	gone(t, pid)
	b, err := os.ReadFile(told[1])
	info, _ := os.Stat(told[1])
	if err != nil || string(b) != "ready\n" || info.Mode().Perm() != 0o600 {
		t.Errorf("its output is %q, %v", b, err)
	}
}

func TestConfirmCommand(t *testing.T) {
	workspace, outside := folders(t)
	c, err := confirm(t, Config{}, workspace, "run_shell_command", map[string]any{
		"command": "echo a\n\x1b[2K\u202Erm -rf b\tc", "description": "harmless\nreally", "directory": "sub"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Text != "echo a\n<U+001B>[2K<U+202E>rm -rf b\tc" || !strings.Contains(c.Title, filepath.Join(real(t, workspace), "sub")) || !strings.Contains(c.Title, `"harmless really"`) {
		t.Errorf("%q %q", c.Title, c.Text)
	}
	if _, err := confirm(t, Config{}, workspace, "run_shell_command", map[string]any{"command": "ls", "directory": outside}); err == nil {
		t.Error("a person is asked about what would be refused")
	}
}
