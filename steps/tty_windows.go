package steps

import (
	"errors"
	"os"
)

func openPty(bool) (master, slave *os.File, err error) {
	return nil, nil, errors.New("interactive steps are not supported on Windows yet; set interactive: false, and provide the answers through input")
}

func (*tty) resize(Size)  {}
func (*tty) unread() bool { return true }
