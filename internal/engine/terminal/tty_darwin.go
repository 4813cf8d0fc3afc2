package terminal

import "golang.org/x/sys/unix"

const inputIsUTF8 = unix.IUTF8
