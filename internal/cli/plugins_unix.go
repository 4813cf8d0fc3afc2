//go:build unix

package cli

import (
	"fmt"
	"os"
	"syscall"

	"github.com/flowrun/flowrun/internal/os/proc"
)

// run replaces this process by the program, which so has its streams, its signals and its exit code.
// It returns only if that fails.
func (p plugin) run(args []string) error {
	proc.ResignReaper()
	err := syscall.Exec(p.path, append([]string{p.path}, args...), os.Environ())
	return fmt.Errorf("cannot run %s: %w", p.path, err)
}
