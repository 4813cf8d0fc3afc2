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
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
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
	s, err := Open(Options{Run: run, LogDir: LogFolder(state, run)})
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
	file := whenShown(t, LogFolder(state, run), "long", 1)[0]
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
	report, err := proc.Recover(run, nil).Close(context.Background(), time.Second)
	if err != nil || len(report.Ended) != 1 || len(report.Escaped) > 0 {
		t.Errorf("left were %+v, %v", report, err)
	}
	if left, _ := filepath.Glob(temp + "/flowrun-*"); len(left) != 1 {
		t.Errorf("%q are left, want one folder", left)
	}
	if err := SweepPrivate(run); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(temp + "/*"); len(left) > 0 {
		t.Errorf("%q are left after the sweep", left)
	}
}

// whenShown waits until a step has n log files.
func whenShown(t *testing.T, dir string, path dag.ID, n int) []LogFile {
	t.Helper()
	var files []LogFile
	waittest.Until(t, fmt.Sprintf("%d log files of %s", n, path), func() bool {
		logs, err := ReadLogs(dir)
		if err != nil {
			t.Fatal(err)
		}
		files = logs.Of(path)
		return len(files) >= n
	})
	return files
}

// SweepPrivate removes only folders that certainly are private folders of the run.
func TestSweepPrivate(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	b := open(t, Options{Run: "r.1/x"}, map[string]any{"BIG": strings.Repeat("x", 200<<10)})
	own, err := b.session.folder()
	if err != nil {
		t.Fatal(err)
	}
	kept := t.TempDir()
	os.WriteFile(filepath.Join(kept, "precious"), nil, 0o600)
	link := filepath.Join(temp, privatePrefix("r.1/x")+procid.Tag()+"-2")
	if err := os.Symlink(kept, link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(kept, filepath.Join(own, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"flowrun-r.1%2Fx", "flowrun-r.1%2Fx-private", "flowrun-r.1%2Fx-private1.2.3-1x", "flowrun-r.1-private1.2.3-1", "flowrun-r-private1.2.3-1"} {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(filepath.Join(temp, privatePrefix("r.1/x")+procid.Tag()+"-3"), nil, 0o600)
	if err := SweepPrivate("r.1/x"); err != nil {
		t.Error(err)
	}
	left, _ := filepath.Glob(temp + "/*")
	if len(left) != 7 {
		t.Errorf("%d are left, want 7: %q", len(left), left)
	}
	if _, err := os.Stat(own); !os.IsNotExist(err) {
		t.Error("the private folder is left:", err)
	}
	if _, err := os.Stat(filepath.Join(kept, "precious")); err != nil {
		t.Error("a link was followed:", err)
	}
	b.close(t)
	t.Setenv("TMPDIR", filepath.Join(temp, "nowhere"))
	if err := SweepPrivate("r"); err != nil {
		t.Error("no temporary directory:", err)
	}
}

// SweepAbandoned removes the folders of killed processes, whatever run they belong to. It keeps
// those of living and of unknown processes.
func TestSweepAbandoned(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	procid.SetPlace(temp)
	own := procid.Tag()
	at := own[strings.LastIndexByte(own, '.'):]
	stays := map[string]bool{
		"flowrun-a-private" + own + "-1":                 true,
		"flowrun-b-private4194304.5" + at + "-1":         false,
		"flowrun-c-private4194304.5.0-1":                 true,
		"flowrun-d-private-private4194304.5" + at + "-2": false,
		"other-private4194304.5" + at + "-1":             true,
		"flowrun-e-private4194304.5" + at + "-x":         true,
		"flowrun-f-private17":                            true,
	}
	for name := range stays {
		if err := os.Mkdir(filepath.Join(temp, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := SweepAbandoned(); err != nil {
		t.Error(err)
	}
	for name, want := range stays {
		_, err := os.Stat(filepath.Join(temp, name))
		if got := err == nil; got != want && runtime.GOOS != "windows" { // there nobody can tell who lives
			t.Errorf("%s is there: %t, want %t", name, got, want)
		}
	}
}
