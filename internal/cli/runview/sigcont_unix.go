//go:build unix

package runview

import (
	"os"
	"os/signal"
	"syscall"
)

// onContinue calls f whenever the process continues after it was stopped with Ctrl-Z. Call stop to
// end this.
func onContinue(f func()) (stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGCONT)
	go func() {
		for range c {
			f()
		}
	}()
	return func() {
		signal.Stop(c)
		close(c)
	}
}
