//go:build !linux

package proc

// RefuseTyping does nothing: only Linux can take system calls away.
func RefuseTyping() {}
