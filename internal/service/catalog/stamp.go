package catalog

import (
	"io/fs"
	"os"
	"time"

	"github.com/flowrun/flowrun/internal/lang/filestamp"
)

// stamp distinguishes the states of a file.
type stamp struct {
	size          int64
	mode          fs.FileMode
	mtime         int64
	changed       int64 // see filestamp.Identity, as the rest
	device, inode uint64
}

// stampOf returns the stamp of a file, or the zero stamp if the file does not exist.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	s := stamp{size: info.Size(), mode: info.Mode(), mtime: info.ModTime().UnixNano()}
	s.changed, s.device, s.inode = filestamp.Identity(info)
	return s
}

// stampResolution is the time after a change in which another change may leave the same stamp.
const stampResolution = 50 * time.Millisecond

// fresh reports whether the file was changed so shortly before a time that a later change
// may have left the same stamp.
func (s stamp) fresh(looked time.Time) bool {
	age := looked.UnixNano() - max(s.mtime, s.changed)
	return -int64(stampResolution) < age && age < int64(stampResolution)
}

func fresh(files map[string]stamp, looked time.Time) bool {
	for _, s := range files {
		if s.fresh(looked) {
			return true
		}
	}
	return false
}
