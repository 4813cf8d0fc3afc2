package steps

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// asEngine in the environment makes the test program run a step until it is killed; the value is
// its state folder.
const asEngine = "STEPS_TEST_ENGINE"

// killedRun returns the name of the run of a test process, which no other one that runs now has.
func killedRun(pid int) string { return fmt.Sprint("killed-", pid) }

func runUntilKilled(state string) {
	tpl, _ := expr.ParseTemplate("echo $FLOWRUN_OWNER; cat; echo over; exec sleep 300.6", expr.Sh, &bench{})
	in, _ := expr.ParseTemplate("input\n", expr.Plain, &bench{})
	run := killedRun(os.Getppid())
	s, err := Open(Options{Run: run, LogDir: rundir.LogFolder(state, run)})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	g, err := dag.New([]dag.Node{{ID: "long", Runner: &Command{Template: tpl, Shell: "sh", Input: in}}}, dag.Settings{})
	if err == nil {
		_, err = dag.Run(context.Background(), g, &bench{session: s}, dag.Options{})
	}
	fmt.Println("the step ended:", err)
	os.Exit(1)
}

// After flowrun was killed, the output of its running steps is available, and the next owner of the
// run finds and ends what was left.
func TestEngineKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("processes are found again on Linux only")
	}
	state, temp, run := t.TempDir(), t.TempDir(), killedRun(os.Getpid())
	t.Setenv("TMPDIR", temp)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asEngine+"="+state)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	file := whenShown(t, rundir.LogFolder(state, run), "long", 1)[0]
	printed := func() bool {
		text, _ := os.ReadFile(file.Path)
		return strings.HasSuffix(string(text), "over\n")
	}
	waittest.Until(t, "the last line", printed)
	cmd.Process.Kill()
	cmd.Wait()
	if text, err := os.ReadFile(file.Path); err != nil || string(text) != run+".1\ninput\nover\n" {
		t.Errorf("the log holds %q, %v", text, err)
	}
	report, err := proc.Recover(run, 0, nil).Close(context.Background(), time.Second)
	if err != nil || len(report.Ended) != 1 || len(report.Escaped) > 0 {
		t.Errorf("left were %+v, %v", report, err)
	}
	if left, _ := filepath.Glob(temp + "/flowrun-*"); len(left) != 1 {
		t.Errorf("%q are left, want one folder", left)
	}
	if err := rundir.SweepPrivate(run); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(temp + "/*"); len(left) > 0 {
		t.Errorf("%q are left after the sweep", left)
	}
}

// whenShown waits until a step has n log files.
func whenShown(t *testing.T, dir string, path dag.ID, n int) []rundir.LogFile {
	t.Helper()
	var files []rundir.LogFile
	waittest.Until(t, fmt.Sprintf("%d log files of %s", n, path), func() bool {
		logs, err := rundir.ReadLogs(dir)
		if err != nil {
			t.Fatal(err)
		}
		files = logs.Of(path)
		return len(files) >= n
	})
	return files
}
