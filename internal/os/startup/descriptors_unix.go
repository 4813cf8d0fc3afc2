//go:build unix

package startup

import (
	"strconv"
	"syscall"
)

// minFiles is how many files a process must be allowed to have open for the Go runtime to begin: with fewer
// it ends with a stack trace where it cannot open those with which it waits for others.
const minFiles = 16

func init() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil && limit.Cur < minFiles {
		syscall.Write(2, []byte("flowrun: the limit on open files is "+strconv.Itoa(int(limit.Cur))+", and flowrun needs at least "+
			strconv.Itoa(minFiles)+"; raise it (ulimit -n 1024)\n"))
		syscall.Exit(1)
	}
}
