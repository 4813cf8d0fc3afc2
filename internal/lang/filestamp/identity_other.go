//go:build !linux && !darwin

package filestamp

import "io/fs"

// Identity returns zeros, because this system does not report these values. No stamp is reliable then.
func Identity(fs.FileInfo) (changed int64, device, inode uint64) { return 0, 0, 0 }
