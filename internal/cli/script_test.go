package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/proc"
)

func TestMain(m *testing.M) {
	flowrun.HelperMain()
	testscript.Main(m, map[string]func(){"flowrun": func() {
		_ = proc.BecomeReaper() // without it, what escapes a step is still reported
		os.Exit(cli.Main(cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}))
	}})
}

// TestScripts runs the command the way a person does; each script in testdata is
// one subject.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			home := e.WorkDir + "/home"
			for k, v := range map[string]string{"HOME": home, "FLOWRUN_STATE_DIR": e.WorkDir + "/state", "XDG_CONFIG_HOME": home + "/.config",
				"FLOWRUN_GLOBAL_TOOLS": e.WorkDir + "/global", "NO_COLOR": "1", "TMPDIR": e.WorkDir + "/tmp"} {
				e.Setenv(k, v)
			}
			return os.MkdirAll(e.WorkDir+"/tmp", 0o755)
		},
	})
}

// exits runs a command line and holds its exit code: exits 3 flowrun validate x.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if err != nil {
		code = exitOf(err)
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s (%v)", code, args[0], err)
	}
}
