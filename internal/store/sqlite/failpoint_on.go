//go:build failpoint

package sqlite

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// A program built with the tag failpoint kills itself when it passes a point for the Nth
// time: FLOWRUN_FAILPOINT="append-after:3".
func init() {
	name, count, ok := strings.Cut(os.Getenv("FLOWRUN_FAILPOINT"), ":")
	n, err := strconv.ParseInt(count, 10, 64)
	if !ok || err != nil {
		return
	}
	var passed atomic.Int64
	failpoint = func(at string) {
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
