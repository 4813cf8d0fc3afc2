package diskuse

import "io/fs"

// stat returns what a file takes. Names are not counted: it costs a call for each file.
func stat(info fs.FileInfo) (bytes int64, id ID, names uint64) {
	return rounded(info.Size()), ID{}, 1
}
