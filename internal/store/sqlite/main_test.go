package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// children are what this test binary does when it is started again as another
// process: FLOWRUN_TEST_CHILD names one, the arguments are its own.
var children = map[string]func(args []string) error{
	"append":  childAppend,
	"migrate": childMigrate,
}

func TestMain(m *testing.M) {
	child := children[os.Getenv("FLOWRUN_TEST_CHILD")]
	if child == nil {
		os.Exit(m.Run())
	}
	if err := child(os.Args[1:]); err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
}

// process is a child and what it prints.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	stdin io.Closer
	out   *bufio.Scanner
}

func start(t *testing.T, child string, args ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "FLOWRUN_TEST_CHILD="+child)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe() // a child ends with its parent, see childWait
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t, cmd, stdin, bufio.NewScanner(stdout)}
	t.Cleanup(func() {
		stdin.Close()
		p.kill()
	})
	return p
}

// line is the next line the child prints, "" at the end.
func (p *process) line() string {
	p.out.Scan()
	return p.out.Text()
}

// expect waits for a line.
func (p *process) expect(want string) {
	p.t.Helper()
	if got := p.line(); got != want {
		p.t.Fatalf("the child said %q, want %q", got, want)
	}
}

func (p *process) kill() {
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// childWait waits until the parent closes the pipe, or is gone.
func childWait() { os.Stdin.Read(make([]byte, 1)) }

// isError checks that an error is an *Error of that code, that it names the file
// and says something to do.
func isError(t *testing.T, err error, code Code) {
	t.Helper()
	e, ok := err.(*Error)
	if !ok || e.Code != code {
		t.Fatalf("the error is %#v, want one of code %s", err, code)
	}
	if msg := err.Error(); !strings.Contains(msg, dbName) || !strings.Contains(msg, advice[code]) {
		t.Error("the message is", msg)
	}
}

func beginTest(t testing.TB, s *Store, id string) history.Ledger {
	t.Helper()
	l, err := s.Begin(context.Background(), &history.Record{ID: id, Tool: "test", Created: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// event is a small event.
func event(run string, seq uint64) []dag.Event {
	return []dag.Event{{V: 1, Seq: seq, Run: run, Kind: dag.StepStarted, Node: "a", Time: time.Now()}}
}

// finished is a run's last event.
func finished(run string, seq uint64) []dag.Event {
	return []dag.Event{{V: 1, Seq: seq, Run: run, Kind: dag.RunFinished, Time: time.Now(), Result: &dag.Result{Status: dag.Succeeded}}}
}

// integrity is what SQLite finds wrong with the file, "ok" when nothing.
func integrity(t *testing.T, s *Store) string {
	t.Helper()
	var found string
	if err := s.db.reads.QueryRow("PRAGMA integrity_check").Scan(&found); err != nil {
		return err.Error()
	}
	return found
}
