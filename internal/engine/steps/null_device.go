package steps

import (
	"os"
	"sync"

	"github.com/flowrun/flowrun/internal/os/proc"
)

var null struct {
	sync.Mutex
	file *os.File
}

// nullDevice returns the null device, which all Sessions share and nobody closes: a file for each run
// that waits would be taken from the steps of other runs.
func nullDevice() (f *os.File, err error) {
	null.Lock()
	defer null.Unlock()
	if null.file == nil {
		null.file, err = proc.OpenFile(os.DevNull, os.O_RDWR, 0)
	}
	return null.file, err
}
