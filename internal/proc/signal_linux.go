package proc

import (
	"os"
	"syscall"
)

// send signals a process of the table if it is still that process: the handle is
// opened first and the start time read behind it, so a number that was given to
// another process in between is noticed.
func send(e *entry, sig syscall.Signal) error {
	p, err := os.FindProcess(e.PID)
	if err != nil {
		return err
	}
	defer p.Release()
	var buf [1024]byte
	if now, ok := readEntry(e.PID, buf[:]); !ok || now.start != e.start {
		return os.ErrProcessDone
	}
	return p.Signal(sig)
}

func infos(list []entry) []Info {
	out := make([]Info, len(list))
	for i := range list {
		out[i] = list[i].Info
	}
	return out
}
