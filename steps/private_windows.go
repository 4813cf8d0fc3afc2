package steps

import "io/fs"

// ownedByUser is true: every user has a temporary directory of their own.
func ownedByUser(fs.FileInfo) bool { return true }
