package startup

import (
	"runtime"
	"syscall"

	"github.com/flowrun/flowrun/internal/os/startup/processor"
)

// A user's GOMAXPROCS counts. It can be read only now.
func init() {
	if n, _ := syscall.Getenv("GOMAXPROCS"); n != "" {
		runtime.GOMAXPROCS(processor.Before())
	}
}
