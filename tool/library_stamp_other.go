//go:build !linux && !darwin

package tool

import "io/fs"

// identity is not told by this system: nothing is believed of a file that was not read.
func identity(fs.FileInfo) (changed int64, device, inode uint64) { return 0, 0, 0 }
