//go:build unix

package mcp

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// readerGone reports whether the other end of a pipe or socket is closed, as far as the system says so without a write.
func readerGone(w io.Writer) bool {
	for {
		inner, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		w = inner.Unwrap()
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = conn.Control(func(fd uintptr) {
		list := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(list, 0)
		gone = err == nil && n > 0 && list[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
