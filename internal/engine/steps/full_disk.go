package steps

import (
	"errors"
	"os"
	"syscall"

	"github.com/flowrun/flowrun/dag"
)

// explainFullDisk says in the Result of a failed attempt that there is no space for its log. The program writes into the
// log itself, so only the program gets the error, and its message about it is lost with the log.
func (t *attempt) explainFullDisk(r *dag.Result) {
	if r.Reason == dag.ReasonExit && r.Message == "" && isFull(t.session.options.unnamedLogs()) {
		r.Message = "the disk of its log is full; free some space on the disk of the state directory"
	}
}

// isFull reports whether a small file does not fit on the disk of a folder. It is false if that cannot be found out.
func isFull(dir string) bool {
	if dir == "" {
		return false
	}
	f, err := os.CreateTemp(dir, ".probe-")
	if err == nil {
		_, err = f.Write(make([]byte, 4096))
		f.Close()
		os.Remove(f.Name())
	}
	return errors.Is(err, syscall.ENOSPC)
}
