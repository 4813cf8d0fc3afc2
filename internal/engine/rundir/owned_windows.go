package rundir

import "io/fs"

// OwnedByUser returns true: every user has a temporary directory of their own.
func OwnedByUser(fs.FileInfo) bool { return true }
