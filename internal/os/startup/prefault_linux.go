package startup

import (
	"syscall"
	"unsafe"
)

// The first use of each page of memory is a page fault, which takes from 0.3 us to 45 us on some virtual machines. What
// nearly every command uses is mapped here in five calls instead of 500 faults. What is mapped and not used counts as
// memory, so the sizes are those of parts that `flowrun run` uses nearly whole. The tables of types are not among them:
// the Go runtime has read them before. `go run ./internal/test/bench faults "flowrun version"` says where the other
// faults are.
const (
	hotText    = 8 << 20   // of the code: the Go runtime, the standard library and what is imported most
	hotTextEnd = 7 << 20   // the history and the engine at its end; esbuild is between them
	hotData    = 232 << 10 // the first variables of the data segment
	hotDataEnd = 336 << 10 // the last variables of it that are set in the file
	hotZero    = 256 << 10 // those after them, which are zero
	hotHeap    = 2 << 20
	heapGrowth = 4 << 20 // the Go runtime maps its heap in parts of this size, so one more cannot be mapped here
)

func init() {
	heap := uintptr(unsafe.Pointer(new([16]*byte)))
	advise(populateWrite, heap, min(hotHeap, heapGrowth-heap%heapGrowth))
	list, base := segments()
	for _, p := range list {
		if p.kind != loaded {
			continue
		}
		p.address += base
		switch p.flags {
		case readable | executable:
			advise(populateRead, p.address, min(hotText, p.fileSize))
			advise(populateRead, p.address+p.fileSize-min(hotTextEnd, p.fileSize), min(hotTextEnd, p.fileSize))
		case readable | writable:
			advise(populateWrite, p.address, min(hotData, p.fileSize))
			advise(populateWrite, p.address+p.fileSize-min(hotDataEnd, p.fileSize), min(hotDataEnd, p.fileSize)+min(hotZero, p.memorySize-p.fileSize))
		}
	}
}

// ReturnCode gives back the memory of the program's code. The kernel keeps the code in its page cache, and what is executed
// from then on is mapped again in parts of 64 KiB. A program that runs for long executes half of what its start has mapped.
func ReturnCode() {
	list, base := segments()
	for _, p := range list {
		if p.kind == loaded && p.flags == readable|executable {
			advise(notNeeded, base+p.address, p.fileSize)
		}
	}
}

// The kinds and flags of segments, see elf(5).
const (
	loaded                         = 1
	headersThemselves              = 6
	executable, writable, readable = 1, 2, 4
)

// A segment is a part of the program in memory, as the ELF program headers of 64 bits describe it.
type segment struct {
	kind, flags                     uint32
	offset, address, physical       uintptr
	fileSize, memorySize, alignment uintptr
}

// segments returns the program headers, which the kernel has put into memory with the program, and how far from their
// addresses it has put everything: 0 unless the program was linked to be moved.
func segments() (list []segment, base uintptr) {
	const headers, headerSize, headerCount = 3, 4, 5 // AT_PHDR, AT_PHENT, AT_PHNUM, see getauxval(3)
	var at unsafe.Pointer
	var count uintptr
	for aux := auxiliary(); len(aux) >= 2; aux = aux[2:] {
		switch {
		case aux[0] == headers:
			at = *(*unsafe.Pointer)(unsafe.Pointer(&aux[1]))
		case aux[0] == headerCount:
			count = aux[1]
		case aux[0] == headerSize && aux[1] != unsafe.Sizeof(segment{}):
			return nil, 0
		}
	}
	if at == nil {
		return nil, 0
	}
	list = unsafe.Slice((*segment)(at), count)
	for _, p := range list {
		if p.kind == headersThemselves {
			base = uintptr(at) - p.address
		}
	}
	return list, base
}

// auxiliary returns what the kernel told the program at its start, in pairs.
//
//go:linkname auxiliary runtime.getAuxv
func auxiliary() []uintptr

// Advice of madvise(2): to map pages, to read or to write them, which kernels before 5.14 refuse, and to give them back.
const populateRead, populateWrite, notNeeded = 22, 23, 4

// advise gives advice about the pages of a part of memory. Nothing depends on its success.
func advise(advice int, start, size uintptr) {
	page := uintptr(syscall.Getpagesize())
	first := start &^ (page - 1)
	syscall.Syscall(syscall.SYS_MADVISE, first, (start+size-first)&^(page-1), uintptr(advice))
}
