//go:build unix

package artifact

import (
	"io/fs"
	"syscall"
)

const nonBlocking = syscall.O_NONBLOCK

// ownerOf returns the owner of a file, -1 if there is none, and how many names it has.
func ownerOf(info fs.FileInfo) (uid int, links uint64) {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid), uint64(s.Nlink) // not everywhere an uint64
	}
	return -1, 1
}

// single reports whether a file has only one name.
func single(_ string, info fs.FileInfo) bool {
	_, links := ownerOf(info)
	return links == 1
}
