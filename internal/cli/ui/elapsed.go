package ui

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Elapsed shows on a terminal what is being done and for how long, once it has taken a second. stop removes the line.
// It shows nothing if stderr is not a terminal, or if animations are off.
func (t *Terminal) Elapsed(what string) (stop func()) {
	if t.autoProgress() != "tty" {
		return func() {}
	}
	ended := make(chan struct{})
	var shown sync.WaitGroup
	shown.Go(func() { showElapsed(t.Stderr, what, ended) })
	return func() {
		close(ended)
		shown.Wait()
	}
}

func showElapsed(to io.Writer, what string, ended <-chan struct{}) {
	began, tick := time.Now(), time.NewTicker(time.Second)
	defer tick.Stop()
	for first := true; ; first = false {
		select {
		case <-tick.C:
			fmt.Fprintf(to, "\r\x1b[K%s, %s", what, time.Since(began).Round(time.Second))
		case <-ended:
			if !first {
				fmt.Fprint(to, "\r\x1b[K")
			}
			return
		}
	}
}
