package steps

import "io/fs"

// openNoFollow has no effect: creating a symbolic link needs a privilege.
const openNoFollow = 0

// ownedByUser returns true: every user has a temporary directory of their own.
func ownedByUser(fs.FileInfo) bool { return true }
