package confine

import (
	"os"
	"syscall"
)

// Constants from linux/prctl.h and linux/capability.h.
const (
	prCapBoundingRead = 23
	prCapBoundingDrop = 24
	prSetNoNewPrivs   = 38
	prCapAmbient      = 47
	ambientClearAll   = 4
	capVersion3       = 0x20080522
	maxCapabilities   = 64

	capSetPCap     = 8
	capSysNice     = 23
	capSysResource = 24

	allCapabilities = 1<<maxCapabilities - 1
)

// capabilitiesOfRoot are those that root keeps in a Sandbox: chown, dac_override, fowner, fsetid,
// kill, setgid, setuid and net_bind_service. The others reach memory and logs of the kernel, devices
// and the clock, which no rule for files protects.
const capabilitiesOfRoot = 1<<0 | 1<<1 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<10

// capabilities is what capget and capset read and write.
type capabilities struct {
	version uint32
	_       int32                                                 // which process: 0 is the calling one
	sets    [2]struct{ effective, permitted, inheritable uint32 } // the second one has capabilities from 32
}

// kept returns the capabilities that the process may keep.
func (c *Confinement) kept() uint64 {
	keep := uint64(allCapabilities)
	if c.usesLandlock() {
		keep = capabilitiesOfRoot
	}
	if len(c.processLimits()) > 0 {
		keep &^= 1 << capSysResource
	}
	if c.NoRealTime {
		keep &^= 1 << capSysNice
	}
	if c.Reduced {
		keep = 0
	}
	return keep
}

// limitCapabilities adds the calls that remove all other capabilities, and every way to get one.
func (c *Confinement) limitCapabilities(k *Calls) error {
	if c.Reduced {
		k.must(syscall.SYS_PRCTL, prSetNoNewPrivs, 1)
	}
	keep := c.kept()
	if keep == allCapabilities {
		return nil
	}
	has := &capabilities{version: capVersion3}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CAPGET, pointer(k, has), pointer(k, &has.sets), 0); errno != 0 {
		return errno
	}
	if k.Program.OwnUser {
		for i := range has.sets {
			has.sets[i].permitted = 1<<32 - 1
		}
	}
	if root := os.Geteuid() == 0; root || has.sets[0].permitted>>capSetPCap&1 == 1 {
		c.dropBounding(k, keep, c.Reduced || !root)
	}
	k.try(syscall.SYS_PRCTL, prCapAmbient, ambientClearAll) // fails only on kernels without ambient capabilities
	k.asRoot = len(k.List)
	for i := range has.sets {
		s := &has.sets[i]
		s.permitted &= uint32(keep >> (32 * i))
		s.effective, s.inheritable = s.permitted, 0
	}
	k.must(syscall.SYS_CAPSET, pointer(k, has), pointer(k, &has.sets))
	return nil
}

// dropBounding adds the calls after which no program can get other capabilities. For a process with
// reduced rights they are an additional safeguard: no_new_privs alone is sufficient.
func (c *Confinement) dropBounding(k *Calls, keep uint64, mayFail bool) {
	for n := range uintptr(maxCapabilities) {
		if keep>>n&1 == 1 {
			continue
		}
		has, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prCapBoundingRead, n, 0)
		if errno != 0 { // the kernel has no more
			return
		}
		if has == 1 || k.Program.OwnUser {
			k.add(mayFail, syscall.SYS_PRCTL, prCapBoundingDrop, n)
		}
	}
}
