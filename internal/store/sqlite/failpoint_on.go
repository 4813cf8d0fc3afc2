//go:build failpoint

package sqlite

import "github.com/flowrun/flowrun/internal/os/atomicfile"

func init() { failpoint = atomicfile.Failpoint("") }
