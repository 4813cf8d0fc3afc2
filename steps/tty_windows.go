package steps

import (
	"errors"
	"os"
)

func openPty(bool) (master, slave *os.File, err error) {
	return nil, nil, errors.New("interactive steps do not run on Windows yet; set interactive: false, and give the answers by input")
}

func (*tty) resize(Size)  {}
func (*tty) unread() bool { return true }
