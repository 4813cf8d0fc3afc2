package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MemoryLimit is a cgroup that limits the memory of all processes in it together. Safe for
// concurrent use.
type MemoryLimit struct {
	leaf Leaf
	kind *memoryFiles
}

// memoryFiles names the files of one version of the memory controller.
type memoryFiles struct {
	limit  string
	more   map[string]string // written if the kernel has them: file -> content
	events string            // contains the line "oom_kill N"
}

var (
	memoryV1 = memoryFiles{limit: "memory.limit_in_bytes", events: "memory.oom_control"}
	memoryV2 = memoryFiles{limit: "memory.max", events: "memory.events",
		// Without swap the limit means what it says. If one process of a step is killed for memory,
		// the rest is useless, so all are killed.
		more: map[string]string{"memory.swap.max": "0", "memory.oom.group": "1"}}
)

// NewMemoryLimit makes a cgroup with a limit in bytes for processes with this mark (see
// procid.Mark): what is left in it is ended with the run. Use "" for processes that may outlive
// their run. It fails if this user cannot make such a cgroup here.
func NewMemoryLimit(mark string, bytes int64) (*MemoryLimit, error) {
	parent, kind, err := memoryParent()
	if err != nil {
		return nil, err
	}
	SweepLeaves(parent)
	made, err := makeLeaf(parent, mark)
	if err != nil {
		return nil, err
	}
	m := &MemoryLimit{leaf: *made, kind: kind}
	size := strconv.FormatInt(bytes, 10)
	if err := m.leaf.write(kind.limit, size); err != nil {
		m.leaf.Remove()
		return nil, err
	}
	if kind == &memoryV1 {
		_ = m.leaf.write("memory.memsw.limit_in_bytes", size) // memory plus swap; fails if the kernel does not count swap
	}
	for file, text := range kind.more {
		_ = m.leaf.write(file, text)
	}
	return m, nil
}

var errNoMemoryController = errors.New("this user cannot create a cgroup with a memory limit here")

// memoryParent returns the cgroup in which one with a memory limit can be made. In version 2 it is
// the nearest ancestor of this process that delegates the controller, in version 1 the cgroup of
// this process. Processes can enter the new cgroup only if this user may write to cgroup.procs of
// the parent.
func memoryParent() (string, *memoryFiles, error) {
	for dir := OwnCgroup(); strings.HasPrefix(dir, "/sys/fs/cgroup"); dir = filepath.Dir(dir) {
		down, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		if err == nil && strings.Contains(" "+strings.TrimSpace(string(down))+" ", " memory ") && mayEnter(dir) {
			return dir, &memoryV2, nil
		}
	}
	if dir := ownMemoryV1(); dir != "" && mayEnter(dir) {
		return dir, &memoryV1, nil
	}
	return "", nil, errNoMemoryController
}

// mayEnter reports whether this process may move processes within a cgroup.
func mayEnter(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// ownMemoryV1 returns the directory of this process's cgroup in the version 1 hierarchy of the
// memory controller, or "".
func ownMemoryV1() string {
	return OwnCgroups()[1]
}

// JoinFile returns the file to which a process writes to enter the cgroup.
func (m *MemoryLimit) JoinFile() string { return filepath.Join(m.leaf.Path, "cgroup.procs") }

// Exceeded reports whether a process in the cgroup was killed because of the limit.
func (m *MemoryLimit) Exceeded() bool {
	text, _ := os.ReadFile(filepath.Join(m.leaf.Path, m.kind.events))
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "oom_kill %d", &n); err == nil {
			return n > 0
		}
	}
	return false
}

// Remove removes the cgroup and reports whether that succeeded. It fails while processes are in it.
func (m *MemoryLimit) Remove() bool {
	if removeTree(m.leaf.Path) != nil {
		return false
	}
	m.leaf.dir.Close()
	return true
}

// End removes the cgroup after its processes should have ended. With kill it first kills what is
// left, if the kernel can kill a cgroup as a whole. A cgroup that still contains processes stays
// until a later run of this user finds it empty.
func (m *MemoryLimit) End(kill bool) {
	if kill {
		_ = m.leaf.Kill()
	}
	m.leaf.Remove()
}
