package pagefault

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os/exec"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Count runs a command to its end, and returns its page faults from the moment its program begins. The command must
// not have been started, and gets no standard input. The error of a command that fails is that of c.Wait.
func Count(c *exec.Cmd) (Faults, error) {
	if c.Err != nil {
		return Faults{}, c.Err
	}
	// The shell waits for a line, so that the events are there before it becomes the program.
	gate := exec.Command("/bin/sh", append([]string{"-c", `read _ && exec "$@"`, "sh", c.Path}, c.Args[1:]...)...)
	gate.Dir, gate.Env, gate.Stdout, gate.Stderr = c.Dir, c.Env, c.Stdout, c.Stderr
	line, err := gate.StdinPipe()
	if err != nil {
		return Faults{}, err
	}
	if err := gate.Start(); err != nil {
		return Faults{}, err
	}
	rings, err := watch(gate.Process.Pid)
	defer func() {
		for _, r := range rings {
			unix.Munmap(r)
		}
	}()
	if err != nil {
		line.Close()
		return Faults{}, errors.Join(err, gate.Wait())
	}
	line.Write([]byte("\n"))
	line.Close()
	if err := gate.Wait(); err != nil {
		return Faults{}, err
	}
	return sum(rings, gate.Process.Pid, c.Path)
}

const ringPages = 256 // 1 MiB, for 43,000 faults

// watch makes the kernel report the page faults of a process on each processor, once it runs another program.
func watch(pid int) ([][]byte, error) {
	var cpus unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cpus); err != nil {
		return nil, err
	}
	attr := unix.PerfEventAttr{
		Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_PAGE_FAULTS, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Sample: 1, Sample_type: unix.PERF_SAMPLE_TID | unix.PERF_SAMPLE_ADDR,
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv,
	}
	var rings [][]byte
	for cpu, left := 0, cpus.Count(); left > 0; cpu++ {
		if !cpus.IsSet(cpu) {
			continue
		}
		left--
		fd, err := unix.PerfEventOpen(&attr, pid, cpu, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if err != nil {
			return rings, fmt.Errorf("%w (%w)", ErrUnavailable, err)
		}
		defer unix.Close(fd)
		ring, err := unix.Mmap(fd, 0, (ringPages+1)*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			return rings, fmt.Errorf("%w (%w)", ErrUnavailable, err)
		}
		rings = append(rings, ring)
	}
	return rings, nil
}

// sum counts the samples of a process by the part of memory.
func sum(rings [][]byte, pid int, path string) (Faults, error) {
	program, err := elf.Open(path)
	if err != nil {
		return Faults{}, err
	}
	defer program.Close()
	var f Faults
	for _, ring := range rings {
		head := atomic.LoadUint64(&(*unix.PerfEventMmapPage)(unsafe.Pointer(&ring[0])).Data_head)
		records := ring[unix.Getpagesize():]
		if head > uint64(len(records)) {
			return f, fmt.Errorf("more page faults than can be recorded: %d bytes of samples", head)
		}
		for records = records[:head]; len(records) > 0; records = records[binary.NativeEndian.Uint16(records[6:]):] {
			if binary.NativeEndian.Uint32(records) == unix.PERF_RECORD_SAMPLE && binary.NativeEndian.Uint32(records[8:]) == uint32(pid) {
				*f.part(program, binary.NativeEndian.Uint64(records[16:]))++
			}
		}
	}
	return f, nil
}

// part returns the count of the part of memory that an address is in. A program is assumed to be where its file says:
// of one that is moved at its start, its own parts count as mappings.
func (f *Faults) part(program *elf.File, address uint64) *int {
	for _, s := range program.Progs {
		if s.Type != elf.PT_LOAD || address < s.Vaddr || address >= s.Vaddr+s.Memsz {
			continue
		}
		switch {
		case s.Flags&elf.PF_X != 0:
			return &f.Text
		case s.Flags&elf.PF_W != 0:
			return &f.Data
		}
		return &f.ReadOnly
	}
	if address < 0x7e00_0000_0000 { // where the kernel puts mappings; the Go runtime asks for addresses below
		return &f.Heap
	}
	return &f.Mappings
}
