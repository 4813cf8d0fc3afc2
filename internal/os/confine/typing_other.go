//go:build !linux

package confine

// RefuseTyping does nothing: only Linux can block system calls.
func RefuseTyping() {}
