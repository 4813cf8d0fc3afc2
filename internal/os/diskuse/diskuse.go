// Package diskuse measures how much space files take on a disk, as du does: the blocks of a file and not its length, folders
// too, and a file with several names once. It follows no links.
package diskuse

import (
	"io/fs"
	"path/filepath"
)

// block is the size to which a length is rounded up if the system does not tell the blocks of a file.
const block = 4 << 10

// Of returns how many bytes the files and folders take, with everything in them. What cannot be read is not counted.
func Of(paths ...string) int64 {
	var c Counter
	for _, p := range paths {
		c.Add(p)
	}
	return c.Bytes
}

// Counter adds up what files take. Its zero value counts nothing yet.
type Counter struct {
	Bytes int64
	// Private leaves out files that have more names than this; 0 counts all.
	Private uint64

	seen map[ID]bool
}

// ID identifies a file that may have several names.
type ID struct{ device, inode uint64 }

// Names returns what identifies a file and how many names it has: 1 if the system does not tell.
func Names(info fs.FileInfo) (ID, uint64) {
	_, id, names := stat(info)
	return id, names
}

// Add adds a file or a folder with everything in it. What cannot be read is not counted.
func (c *Counter) Add(path string) {
	_ = filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := d.Info(); err == nil {
			c.add(info)
		}
		return nil
	})
}

func (c *Counter) add(info fs.FileInfo) {
	bytes, id, names := stat(info)
	if names > 1 && !info.IsDir() {
		if c.seen[id] || c.Private > 0 && names > c.Private {
			return
		}
		if c.seen == nil {
			c.seen = map[ID]bool{}
		}
		c.seen[id] = true
	}
	c.Bytes += bytes
}

func rounded(size int64) int64 { return (size + block - 1) / block * block }
