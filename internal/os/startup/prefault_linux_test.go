package startup

import (
	"testing"
	"unsafe"
)

var variable [1]byte

// TestSegments: the kernel's description of the program has its code and its variables.
func TestSegments(t *testing.T) {
	code := **(**uintptr)(unsafe.Pointer(&[]func(){func() {}}[0]))
	list, base := segments()
	found := func(address uintptr, flags uint32) bool {
		for _, p := range list {
			if p.kind == loaded && p.flags == flags && address-base >= p.address && address-base < p.address+p.memorySize {
				return true
			}
		}
		return false
	}
	if !found(code, readable|executable) || !found(uintptr(unsafe.Pointer(&variable)), readable|writable) {
		t.Errorf("code at %#x and variables at %p are not in %+v at %#x", code, &variable, list, base)
	}
}
