package steps

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

func TestPython(t *testing.T) {
	t.Parallel()
	needtest.Programs(t, "python3")
	b := open(t, Options{}, map[string]any{"P": `it's "$(x)"` + "\n\\", "BIG": strings.Repeat("é", 1<<20), "SECRET": `pa"ss'word\`})
	defer b.close(t)
	b.dir = t.TempDir()
	if err := b.session.Mask().Add(`pa"ss'word\`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, shell, script string
		code                int
		out, err            string
	}{
		{"value", "python", "print(repr({P}))", 0, `'it\'s "$(x)"\n\\'` + "\n", ""},
		{"value in quotes", "python3", "print('{P}' == {P})", 0, "True\n", ""},
		{"large value", "python", "print(len({BIG}))", 0, "1048576\n", ""},
		{"exit code", "python", "import sys; sys.exit(7)", 7, "", ""},
		{"line numbers", "python", "\n\n1/0", 1, "", "line 3"},
		{"a secret in a traceback", "python", "raise ValueError({SECRET})", 1, "", "ValueError"},
	} {
		r := b.run(t, &Command{Template: b.parse(t, c.script, expr.Python), Shell: c.shell})
		if r.ExitCode != c.code || stdout(r) != c.out || !strings.Contains(stderr(r), c.err) {
			t.Errorf("%s: exit %d, %.200q, %.400q: %s", c.name, r.ExitCode, stdout(r), stderr(r), r.Message)
		}
		if shown := r.Stderr; shown != nil && strings.Contains(shown.Inline, "word") {
			t.Errorf("%s: the secret shows: %s", c.name, shown.Inline)
		}
	}
}

// Runs a program in place of PowerShell that prints its arguments, the script and the variables.
func TestPowerShellStart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program in its place is a shell script")
	}
	b := open(t, Options{}, map[string]any{"P": "a; b", "BIG": strings.Repeat("x", 1<<20)})
	defer b.close(t)
	b.dir = t.TempDir()
	stand := "#!/bin/sh\necho \"$1 $2 $3\"\ncat \"$4\"\nprintf '%s\\n' \"$__FLOWRUN_1\"\ntest -f \"$__FLOWRUN_1\" && wc -c <\"$__FLOWRUN_1\"\nexit 3\n"
	if err := os.WriteFile(filepath.Join(b.dir, "pwsh"), []byte(stand), 0o755); err != nil {
		t.Fatal(err)
	}
	b.environ = []string{"PATH=" + b.dir + ":" + os.Getenv("PATH")}
	for _, c := range []struct {
		shell, script string
		strict        bool
		want          []string
	}{
		{"pwsh", "p {P}", false, []string{"-NoProfile -NonInteractive -File\n\ufeffp ${env:__FLOWRUN_1}\nif (Test-Path", "exit $LASTEXITCODE }\na; b\n"}},
		{"powershell", "# c\nusing namespace System\np {P}", true, []string{"\ufeff# c\nusing namespace System\n$ErrorActionPreference = 'Stop';", "$true; p ${env:__FLOWRUN_1}\n"}},
		{"pwsh", "p {BIG}", false, []string{"p ([IO.File]::ReadAllText(${env:__FLOWRUN_1}))", "\n1048579\n"}},
	} {
		r := b.run(t, &Command{Template: b.parse(t, c.script, expr.PowerShell), Shell: c.shell, Strict: c.strict})
		if r.ExitCode != 3 {
			t.Errorf("%s: exit %d: %s", c.script, r.ExitCode, r.Message)
		}
		for _, w := range c.want {
			if !strings.Contains(stdout(r), w) {
				t.Errorf("%s: %q has no %q", c.script, stdout(r), w)
			}
		}
	}
	if left, _ := filepath.Glob(filepath.Join(b.session.private, "*-*")); len(left) > 0 {
		t.Errorf("files are left: %q", left)
	}
}

func TestInterpreterMissing(t *testing.T) {
	b := open(t, Options{}, nil)
	defer b.close(t)
	b.dir = t.TempDir()
	b.environ = []string{"PATH=" + b.dir}
	for _, c := range []struct {
		shell string
		kind  expr.Shell
		says  string
	}{
		{"pwsh", expr.PowerShell, "install PowerShell"},
		{"powershell", expr.PowerShell, "powershell or pwsh not found"},
		{"python", expr.Python, "install Python 3"},
		{"python3", expr.Python, "python3 not found"},
		{"cmd", expr.Cmd, "on Windows only"},
	} {
		if c.kind == expr.Cmd && runtime.GOOS == "windows" {
			continue
		}
		r := b.run(t, &Command{Template: b.parse(t, "x", c.kind), Shell: c.shell})
		if r.Status != dag.Failed || r.ExitCode != 127 || r.Reason != ReasonStartFailed || !strings.Contains(r.Message, c.says) {
			t.Errorf("%s: %v %d %s %s", c.shell, r.Status, r.ExitCode, r.Reason, r.Message)
		}
	}
}
