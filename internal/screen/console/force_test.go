package console_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/screen/console"
)

func TestForces(t *testing.T) {
	for _, c := range []struct {
		sig      os.Signal
		terminal bool
		since    time.Duration
		want     bool
	}{
		{os.Interrupt, true, time.Second, true},
		{os.Interrupt, true, 50 * time.Millisecond, false},
		{os.Interrupt, false, time.Second, false},
		{syscall.SIGTERM, true, time.Second, false},
		{syscall.SIGHUP, true, time.Hour, false},
		{syscall.SIGQUIT, true, time.Second, false},
	} {
		if got := console.Forces(c.sig, c.terminal, c.since); got != c.want {
			t.Errorf("%v at a terminal %v after %v: %v", c.sig, c.terminal, c.since, got)
		}
	}
}
