package steps

import (
	"errors"
	"os"
)

func openPty(bool) (master, slave *os.File, err error) {
	return nil, nil, errors.New("interactive steps are not supported on Windows yet; set interactive: false, and provide the answers through input")
}

func (*tty) resize(Size)                        {}
func (*tty) inFlight() bool                     { return true }
func readable(*os.File) bool                    { return false } // not known
func (*tty) inputModes() (canonical, echo bool) { return true, false }

// isBusy is known on Linux only.
func isBusy(int) bool { return false }
