package builtin

import (
	"io/fs"
	"os"
)

// keepOwner does nothing here: a file's owner comes with its folder.
func keepOwner(*os.File, fs.FileInfo) {}
