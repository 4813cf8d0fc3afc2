package proc

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// start starts a command line of cmd.
func start(t *testing.T, g *Group, s Spec, line string) Process {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { null.Close() })
	s.Step, s.Path, s.Args, s.Env = "a", os.Getenv("COMSPEC"), append([]string{"cmd", "/d", "/c"}, strings.Fields(line)...), os.Environ()
	s.Files = [3]*os.File{null, null, null}
	p, err := g.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const (
	waits    = "ping -n 600 127.0.0.1"
	leavesIt = "start /b " + waits
)

// count returns how many processes of a tree are alive.
func count(p Process) int { return len(p.(*child).leftovers()) }

// until waits until a tree has a number of processes.
func until(t *testing.T, p Process, want int) {
	t.Helper()
	for range 6000 {
		if count(p) == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("the tree has %v, want %d processes", p.(*child).leftovers(), want)
}

// A step ends with all that it has started.
func TestStop(t *testing.T) {
	g := Open("mark", procid.Domain(0))
	p := start(t, g, Spec{}, waits)
	until(t, p, 2)
	if _, survivors := p.Stop(0, nil); survivors != nil || count(p) != 0 {
		t.Errorf("%v survived, %d are left", survivors, count(p))
	}
	if report, err := g.Close(context.Background(), 0); err != nil || report.Ended != nil || report.Escaped != nil {
		t.Errorf("%+v, %v", report, err)
	}
}

// What a step leaves in the background ends with its run, and is reported.
func TestLeftBehind(t *testing.T) {
	g := Open("mark", procid.Domain(0))
	p := start(t, g, Spec{Bound: true}, leavesIt) // as steps are
	if exit, err := p.Wait(t.Context()); err != nil || exit.Code != 0 {
		t.Fatal(exit, err)
	}
	until(t, p, 1)
	report, err := g.Close(context.Background(), 0)
	if err != nil || len(report.Ended) != 1 || !strings.EqualFold(report.Ended[0].Name, "ping.exe") || report.Ended[0].Step != "a" || report.Escaped != nil {
		t.Errorf("%+v, %v", report, err)
	}
}

// What a detached step leaves outlives the run.
func TestDetached(t *testing.T) {
	g := Open("mark", procid.Domain(0))
	p := start(t, g, Spec{Detach: true, Bound: true}, leavesIt)
	if _, err := p.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, p, 1)
	if report, err := g.Close(context.Background(), 0); err != nil || report.Ended != nil || count(p) != 1 {
		t.Errorf("%+v, %v; %d are left", report, err, count(p))
	}
	p.Stop(0, nil)
}

// The arguments of a batch file that cmd would read as more than values are refused.
func TestBatchArguments(t *testing.T) {
	for text, ok := range map[string]bool{"plain": true, "two words": true, "a=b;c": true, "%PATH%": false, "a&b": false, `"`: false, "a\nb": false, "^": false, "!x!": false} {
		if err := checkBatch(`C:\tool.CMD`, []string{"tool", text}); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
		if err := checkBatch(`C:\tool.exe`, []string{"tool", text}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
