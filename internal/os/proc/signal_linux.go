package proc

import (
	"os"
	"syscall"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// send signals a process if it still is the process of the table. It opens a handle before it reads
// the start time, so it notices when the pid was reused in between.
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

// infos returns the Info of each entry.
func infos(list []procid.Entry) []procid.Info {
	out := make([]procid.Info, len(list))
	for i := range list {
		out[i] = list[i].Info
	}
	return out
}
