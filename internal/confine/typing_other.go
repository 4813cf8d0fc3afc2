//go:build !linux

package confine

// RefuseTyping does nothing: only Linux can take system calls away.
func RefuseTyping() {}
