//go:build failpoint

package cache

import "github.com/flowrun/flowrun/internal/os/atomicfile"

func init() { failpoint = atomicfile.Failpoint("cache-") }
