package library

import (
	"io/fs"
	"time"

	"github.com/flowrun/flowrun/internal/lang/filestamp"
)

// fileStamp identifies one state of a file without reading it. Any change of the file, and any other file in its place,
// has a different stamp. The only exception is a change so soon after another that the clock of the file system did not
// advance; see settled.
type fileStamp struct {
	size, modified, changed int64 // bytes; nanoseconds since 1970; changed is 0 if the system does not report it
	device, inode           uint64
}

func stampOf(info fs.FileInfo) fileStamp {
	s := fileStamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	s.changed, s.device, s.inode = filestamp.Identity(info)
	return s
}

// settleTime is how long a file must have been unchanged before its stamp is reliable: the clocks of some file systems
// advance only every two seconds. A clock that counts parts of a millisecond advances at least every tick of the kernel,
// which is at most 16 ms.
func (s fileStamp) settleTime() time.Duration {
	if s.changed%int64(time.Millisecond) != 0 {
		return 100 * time.Millisecond
	}
	return 2 * time.Second
}

// settled reports whether the stamp of a file, read at the given time, is reliable: any later change of the file gets a
// different stamp. It is false if the change is in the future, and on systems that do not report the time of the
// change, because the modification time can be set back.
func (s fileStamp) settled(read time.Time) bool {
	return s.changed != 0 && read.UnixNano()-s.changed >= int64(s.settleTime())
}
