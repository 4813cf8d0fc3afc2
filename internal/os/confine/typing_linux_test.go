package confine

import (
	"encoding/binary"
	"testing"
)

// run returns the kernel's answer to a system call.
func run(f []instruction, data [64]byte) uint32 {
	var word uint32
	for at := 0; ; at++ {
		switch i := f[at]; i.code {
		case loadWord:
			word = binary.NativeEndian.Uint32(data[i.k:])
		case maskWord:
			word &= i.k
		case ifEqual, ifAtLeast, ifAnyBit:
			if i.code == ifEqual && word == i.k || i.code == ifAtLeast && word >= i.k || i.code == ifAnyBit && word&i.k != 0 {
				at += int(i.jt)
			} else {
				at += int(i.jf)
			}
		case answerWith:
			return i.k
		}
	}
}

// The filter refuses only the two requests of ioctl, whatever the upper half of the request is.
func TestTypingFilter(t *testing.T) {
	calls := []ioctlCall{{0xc000003e, 16}, {0xc000003e, 0x40000202}, {0x40000003, 54}}
	f := typingFilter(calls)
	for _, c := range []struct {
		arch, number uint32
		request      uint64
		refused      bool
	}{
		{0xc000003e, 16, 0x5412, true},
		{0xc000003e, 16, 0x541c, true},
		{0xc000003e, 16, 0xdead00005412, true},
		{0xc000003e, 0x40000202, 0x5412, true},
		{0x40000003, 54, 0x541c, true},
		{0xc000003e, 16, 0x5413, false},
		{0xc000003e, 54, 0x5412, false},
		{0x40000003, 16, 0x5412, false},
		{0x40000028, 54, 0x5412, false},
	} {
		var data [64]byte
		binary.NativeEndian.PutUint32(data[0:], c.number)
		binary.NativeEndian.PutUint32(data[4:], c.arch)
		binary.NativeEndian.PutUint64(data[24:], c.request)
		if got := run(f, data); (got != 0x7fff0000) != c.refused {
			t.Errorf("%x %x %x: %x, refused %v", c.arch, c.number, c.request, got, c.refused)
		}
	}
}
