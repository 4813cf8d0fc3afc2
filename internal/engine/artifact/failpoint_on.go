//go:build failpoint

package artifact

import "github.com/flowrun/flowrun/internal/os/atomicfile"

func init() { failpoint = atomicfile.Failpoint("artifact-") }
