package tool

import (
	"io/fs"
	"time"
)

// stamp tells one state of a file from another without reading it: any change of the
// file, and any other file in its place, gives another stamp. The one exception is a
// change so soon after another that the clock of the file system did not move; see
// settled.
type stamp struct {
	size, modified, changed int64 // bytes; nanoseconds since 1970. changed is 0 where the system does not tell
	device, inode           uint64
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	s.changed, s.device, s.inode = identity(info)
	return s
}

// rest is how long a file must have been left alone before its stamp is believed:
// clocks of file systems tick as seldom as every two seconds.
const rest = 2 * time.Second

// settled says whether a file with this stamp, read at a time, can have changed since
// only by getting another stamp. A file of the future cannot be told, and neither can
// one of a system that does not say when it changed: its time of modification can be
// set back.
func (s stamp) settled(read time.Time) bool {
	return s.changed != 0 && read.UnixNano()-s.changed >= int64(rest)
}
