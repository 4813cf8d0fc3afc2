package proc

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/vfork"
)

// fork starts the first process of a step, in the leaf if there is one. pidfd is -1 where the kernel
// has none. It uses syscall.ForkExec where package vfork does not work: on some processors, and in
// kernels before 5.7. ForkExec cannot enter namespaces. The limits are those of a child of a process that reaps its orphans, and
// finds those of others by their birthmark; nil for none.
func fork(s *Spec, leaf *cgroup.Leaf, limits *limitCalls) (pid, pidfd int, err error) {
	if s.Confine != nil && s.Confine.NeedsProcess() {
		s = s.wrapped()
	}
	pid, pidfd, forked, err := fastFork(s, leaf, limits)
	switch {
	case forked:
		return pid, pidfd, err
	case len(s.Enter) > 0:
		return 0, -1, fmt.Errorf("cannot start a process in a namespace: %w", err)
	}
	s = s.wrapped()
	pidfd = -1
	attr := syscall.ProcAttr{Dir: s.Dir, Env: s.Env, Sys: newSession(s.TTY)}
	attr.Sys.PidFD = &pidfd
	if leaf != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, leaf.FD()
	}
	for _, f := range s.Files {
		attr.Files = append(attr.Files, f.Fd())
	}
	if limits != nil {
		defer s.domain.SetChildLimits(s.outlives())()
	}
	pid, err = syscall.ForkExec(s.Path, s.Args, &attr)
	return pid, pidfd, err
}

// outlives reports whether the process may outlive this one.
func (s *Spec) outlives() bool { return s.Detach && !s.Bound }

// limitCalls are the calls by which children give themselves their limits (procid.Domain.ChildLimits). A child makes them,
// because this process would have the limits too until its next turn: what the child starts meanwhile can use up all
// processes that they leave.
type limitCalls struct {
	list   []vfork.Call
	limits []procid.Limit // to which the list points
}

// newLimitCalls reads the limits of this process.
func newLimitCalls(d procid.Domain, outlives bool) *limitCalls {
	c := &limitCalls{limits: d.ChildLimits(outlives)}
	for i := range c.limits {
		l := &c.limits[i]
		c.list = append(c.list, vfork.Call{Number: syscall.SYS_PRLIMIT64, Args: [4]uintptr{0, uintptr(l.Resource), uintptr(unsafe.Pointer(&l.Rlimit)), 0}, Optional: true})
	}
	return c
}

// wrapped returns a Spec of a process that confines itself.
func (s *Spec) wrapped() *Spec {
	if s.Confine == nil {
		return s
	}
	w := *s
	w.Path, w.Args = s.Confine.Wrap(s.Path, s.Args)
	w.Confine = nil
	return &w
}

// arguments and environment are what the kernel reads; syscall.ForkLock protects them.
var arguments, environment cStrings

// fastFork starts a process by package vfork. If forked is false, the kernel cannot make a process.
func fastFork(s *Spec, leaf *cgroup.Leaf, limits *limitCalls) (pid, pidfd int, forked bool, err error) {
	var v vfork.Spec
	for i, f := range s.Files {
		v.Files[i] = f.Fd()
	}
	path, args := s.Path, s.Args
	var calls *confine.Calls
	var own []vfork.Call // none of them fails
	if s.Confine != nil {
		calls, err = s.Confine.Calls(confine.Program{Path: path, Args: args, Dir: s.Dir, Files: v.Files, OwnUser: len(s.Enter) > 1})
		if err != nil {
			return 0, -1, true, err
		}
		defer calls.Close()
		v.Calls, path, args = calls.List, calls.Program.Path, calls.Program.Args
	}
	if limits != nil {
		own = limits.list
		defer runtime.KeepAlive(limits)
		if v.Calls = own; calls != nil {
			v.Calls = slices.Concat(own, calls.List)
		}
	}
	if v.Path, err = syscall.BytePtrFromString(path); err != nil {
		return 0, -1, false, err
	}
	if s.Dir != "" {
		if v.Dir, err = syscall.BytePtrFromString(s.Dir); err != nil {
			return 0, -1, false, err
		}
	}
	v.TTY, v.NoCore = s.TTY, s.NoCore
	if n := len(s.Enter); n > 0 {
		v.NetNS = int(s.Enter[n-1].Fd())
		if n > 1 {
			v.UserNS = int(s.Enter[0].Fd())
		}
	}
	if leaf != nil {
		v.Cgroup = leaf.FD()
	}
	syscall.ForkLock.Lock()
	defer syscall.ForkLock.Unlock()
	if !arguments.set(args) || !environment.set(s.Env) {
		return 0, -1, false, nil
	}
	v.Args, v.Env = &arguments.pointers[0], &environment.pointers[0]
	pid, pidfd, forked, errno := vfork.Start(&v)
	switch {
	case !forked:
		return 0, -1, false, syscall.Errno(errno)
	case errno == 0:
		return pid, pidfd, true, nil
	}
	syscall.Close(pidfd)
	for err = syscall.EINTR; err == syscall.EINTR; {
		_, err = syscall.Wait4(pid, nil, 0, nil)
	}
	if v.Failed > 0 {
		return 0, -1, true, calls.Failed(v.Failed-len(own), syscall.Errno(errno))
	}
	return 0, -1, true, syscall.Errno(errno)
}

// cStrings is a list of texts as the kernel reads it. It keeps its memory for the next list.
type cStrings struct {
	bytes    []byte // all texts, each with a zero byte at its end
	pointers []*byte
}

// set makes it the list. It returns false if a text contains a zero byte.
func (c *cStrings) set(list []string) bool {
	size := 0
	for _, s := range list {
		if strings.IndexByte(s, 0) >= 0 {
			return false
		}
		size += len(s) + 1
	}
	c.bytes = slices.Grow(c.bytes[:0], size)
	c.pointers = c.pointers[:0]
	for _, s := range list {
		at := len(c.bytes)
		c.bytes = append(append(c.bytes, s...), 0)
		c.pointers = append(c.pointers, &c.bytes[at])
	}
	c.pointers = append(c.pointers, nil)
	return true
}
