package ui

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"
)

func TestElapsed(t *testing.T) {
	for took, want := range map[time.Duration]string{
		900 * time.Millisecond:  "",
		2500 * time.Millisecond: "\r\x1b[Kreading, 1s\r\x1b[Kreading, 2s\r\x1b[K",
	} {
		synctest.Test(t, func(t *testing.T) {
			var shown bytes.Buffer
			ended := make(chan struct{})
			go showElapsed(&shown, "reading", ended)
			time.Sleep(took)
			close(ended)
			synctest.Wait()
			if shown.String() != want {
				t.Errorf("%v: %q, want %q", took, shown.String(), want)
			}
		})
	}
}

func TestElapsedWithoutTerminal(t *testing.T) {
	var shown bytes.Buffer
	(&Terminal{Stderr: &shown}).Elapsed("reading")()
	if shown.Len() > 0 {
		t.Errorf("%q was shown", shown.String())
	}
}
