package cli_test

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestNoticeIsInterrupted: Ctrl-C stops a slow notification, and does not change the run.
func TestNoticeIsInterrupted(t *testing.T) {
	s := begin(t, `
bash: echo done
notify: [{command: "sh -c 'touch ready; sleep 300 & wait'", on: success}]
`, nil)
	s.cmd.Process.Signal(syscall.SIGINT)
	s.ends(0)
	if s.stdout.String() != "done\n" || !strings.Contains(s.stderr.String(), "cannot send the notification by command sh: interrupted") {
		t.Errorf("stdout %q, stderr:\n%s", &s.stdout, &s.stderr)
	}
}

// TestNoticeOfInterrupt: notifications are also sent for a run that Ctrl-C has stopped; a second
// Ctrl-C stops them.
func TestNoticeOfInterrupt(t *testing.T) {
	s := begin(t, `
bash: touch ready; sleep 300
notify:
  - {command: "sh -c 'echo $FLOWRUN_EVENT $FLOWRUN_STATUS > told'", on: cancelled}
  - {command: "sh -c 'touch telling; sleep 300 & wait'", on: cancelled}
`, (*session).atTerminal)
	s.cmd.Process.Signal(syscall.SIGINT)
	s.await("telling")
	s.await("told")
	time.Sleep(400 * time.Millisecond) // before, nobody can have read how to force
	s.cmd.Process.Signal(syscall.SIGINT)
	s.ends(130)
	if !strings.Contains(s.stderr.String(), ": interrupted") {
		t.Errorf("stderr:\n%s", &s.stderr)
	}
}
