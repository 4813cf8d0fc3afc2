package terminal

import (
	"errors"
	"os"
)

func openPty(bool) (master, slave *os.File, err error) {
	return nil, nil, errors.New("interactive steps are not supported on Windows yet; set interactive: false, and provide the answers through input")
}

func (*TTY) resize(Size)                        {}
func (*TTY) inFlight() bool                     { return true }
func Readable(*os.File) bool                    { return false } // not known
func (*TTY) inputModes() (canonical, echo bool) { return true, false }

// isBusy is known on Linux only.
func isBusy(int) bool { return false }
