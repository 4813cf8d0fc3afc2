package steps

import "io/fs"

// ownedByUser returns true: every user has a temporary directory of their own.
func ownedByUser(fs.FileInfo) bool { return true }
