package cli_test

import (
	"strings"
	"syscall"
	"testing"
)

// TestNoticeIsInterrupted: Ctrl-C ends a notice that takes its time, and changes nothing
// of the run that it is about.
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

// TestNoticeOfInterrupt: a run that Ctrl-C has stopped is told of all the same; the second
// Ctrl-C ends that too.
func TestNoticeOfInterrupt(t *testing.T) {
	s := begin(t, `
bash: touch ready; sleep 300
notify:
  - {command: "sh -c 'echo $FLOWRUN_EVENT $FLOWRUN_STATUS > told'", on: cancelled}
  - {command: "sh -c 'touch telling; sleep 300 & wait'", on: cancelled}
`, nil)
	s.cmd.Process.Signal(syscall.SIGINT)
	s.await("telling")
	s.await("told")
	s.cmd.Process.Signal(syscall.SIGINT)
	s.ends(130)
	if !strings.Contains(s.stderr.String(), ": interrupted") {
		t.Errorf("stderr:\n%s", &s.stderr)
	}
}
