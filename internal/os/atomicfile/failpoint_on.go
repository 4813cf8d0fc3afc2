//go:build failpoint

package atomicfile

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// Failpoint returns a function that kills the program when it is called for the N-th time with the name in
// FLOWRUN_FAILPOINT="PREFIXNAME:N", or nil if the variable names no point with this prefix.
func Failpoint(prefix string) func(at string) {
	name, count, _ := strings.Cut(os.Getenv("FLOWRUN_FAILPOINT"), ":")
	name, ours := strings.CutPrefix(name, prefix)
	n, err := strconv.ParseInt(count, 10, 64)
	if !ours || err != nil {
		return nil
	}
	var passed atomic.Int64
	return func(at string) {
		if at != name || passed.Add(1) != n {
			return
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			self.Kill()
		}
		select {} // the signal may take a moment
	}
}
