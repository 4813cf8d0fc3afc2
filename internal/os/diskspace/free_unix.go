//go:build linux || darwin

package diskspace

import "syscall"

// Free returns how many bytes this user may still write to the file system of a folder, and how large that is. ok is false if
// it is not known.
func Free(dir string) (free, size int64, ok bool) {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return 0, 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize), true
}
