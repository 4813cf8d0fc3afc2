package ui

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// TestReportError: the exit code of each kind of error, however deep it is, and what is printed.
func TestReportError(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		code int
		want string
	}{
		"missing":         {Missing(errors.New("no tool x")), outcome.ExitNotFound, "flowrun: no tool x\n"},
		"inside another":  {fmt.Errorf("cannot start: %w", Missing(errors.New("no tool x"))), outcome.ExitNotFound, "flowrun: cannot start: no tool x\n"},
		"service":         {ServiceErrorf("cannot listen on %s", ":1"), outcome.ExitServer, "flowrun: cannot listen on :1\n"},
		"printed already": {CodeError(7), 7, ""},
		"refused":         {&RefusedError{Reason: "a rule denies it"}, outcome.ExitRefused, "flowrun: refused: a rule denies it\n"},
		"nobody to ask": {&RefusedError{Reason: "needs \x1b[m approval", Permissions: []string{"network:*"}, Askable: true}, outcome.ExitRefused,
			"flowrun: refused: needs <U+001B>[m approval\nflowrun: Permission not granted: network:*\nflowrun: run it at a terminal, where a person can answer: without --no-input, and with CI not set\n"},
		"closed pipe": {fmt.Errorf("write: %w", syscall.EPIPE), outcome.ExitPipe, ""},
	} {
		var out bytes.Buffer
		env := &Env{Terminal: Terminal{Stderr: &out}}
		if code := env.ReportError(c.err); code != c.code || out.String() != c.want {
			t.Errorf("%s: exit code %d, printed %q; want %d, %q", name, code, out.String(), c.code, c.want)
		}
	}
}

// TestExitCode: the exit code of a run. With pass-through it is that of the failed step, and only then.
func TestExitCode(t *testing.T) {
	for _, c := range []struct {
		status            dag.Status
		code, passThrough int
	}{
		{dag.Succeeded, 0, 0},
		{dag.Reused, 0, 0},
		{dag.Failed, outcome.ExitFailed, 42},
		{dag.TimedOut, dag.ExitTimeout, dag.ExitTimeout},
		{dag.Waiting, outcome.ExitWaiting, outcome.ExitWaiting},
		{dag.Interrupted, outcome.ExitWaiting, outcome.ExitWaiting},
		{dag.Cancelled, outcome.ExitInterrupted, outcome.ExitInterrupted},
	} {
		r := &runresult.Result{Status: c.status, ExitCode: 42}
		if code, own := ExitCode(r, false), ExitCode(r, true); code != c.code || own != c.passThrough {
			t.Errorf("%v: %d, with pass-through %d", c.status, code, own)
		}
	}
}

// TestMeantFile: which file a person meant who named one that does not exist.
func TestMeantFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("tools", "folder.yaml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"report.yaml", "tools/deploy.tool.js", "tools/notes.txt"} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"report.yml":          `did you mean "report.yaml"?`, // another extension
		"report":              `did you mean "report.yaml"?`,
		"reprot.yaml":         `did you mean "report.yaml"?`,
		"tools/deploy.yaml":   `did you mean "tools/deploy.tool.js"?`,
		"tools/notes.txt.bak": "give the path of a definition", // no definition
		"tools/folder.yml":    "give the path of a definition", // a folder
		"tols/deploy.yaml":    "there is no folder tols",
		"something.yaml":      "give the path of a definition",
	} {
		if got := meantFile(path, ""); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
