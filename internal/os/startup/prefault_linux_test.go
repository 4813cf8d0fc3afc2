package startup

import (
	"os"
	"regexp"
	"strconv"
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

// TestReturnCode: less code is in the memory of the program.
func TestReturnCode(t *testing.T) {
	before := codeInMemory(t)
	ReturnCode()
	if after := codeInMemory(t); after >= before {
		t.Errorf("%d KiB of code before and %d KiB after", before, after)
	}
}

// codeInMemory returns how much of the program's code is mapped, in KiB.
func codeInMemory(t *testing.T) (size int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^\S+ r-xp \S+ \S+ [1-9]\d* [^\n]*\n(?:\w.*\n)*?Rss: +(\d+) kB`).FindSubmatch(maps)
	if m == nil {
		t.Fatalf("no code of a file in\n%s", maps)
	}
	size, _ = strconv.Atoi(string(m[1]))
	return size
}
