package proc

import (
	"os"
	"syscall"

	"github.com/flowrun/flowrun/internal/procid"
)

// send signals a process of the table if it is still that process: the handle is
// opened first and the start time read behind it, so a number that was given to
// another process in between is noticed.
func send(e *procid.Entry, sig syscall.Signal) error {
	p, err := os.FindProcess(e.PID)
	if err != nil {
		return err
	}
	defer p.Release()
	var buf [1024]byte
	if now, ok := procid.ReadEntry(e.PID, buf[:]); !ok || now.Start != e.Start {
		return os.ErrProcessDone
	}
	return p.Signal(sig)
}

func infos(list []procid.Entry) []procid.Info {
	out := make([]procid.Info, len(list))
	for i := range list {
		out[i] = list[i].Info
	}
	return out
}
