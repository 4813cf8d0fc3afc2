//go:build failpoint

package artifact

import (
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// init makes a program that was built with the tag failpoint kill itself when it passes a point for the N-th time:
// FLOWRUN_FAILPOINT="artifact-placed:2".
func init() {
	name, count, _ := strings.Cut(os.Getenv("FLOWRUN_FAILPOINT"), ":")
	name, ours := strings.CutPrefix(name, "artifact-")
	n, err := strconv.ParseInt(count, 10, 64)
	if !ours || err != nil {
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
