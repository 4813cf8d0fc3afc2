package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// MemoryLimit is a cgroup that bounds the memory of all processes in it together. It
// is safe for concurrent use.
type MemoryLimit struct {
	leaf Leaf
	kind *memoryFiles
}

// memoryFiles is what the two versions of the memory controller call things.
type memoryFiles struct {
	limit  string
	more   map[string]string // optional: where the kernel has them
	events string            // holds the line "oom_kill N"
}

var (
	memoryV1 = memoryFiles{limit: "memory.limit_in_bytes", events: "memory.oom_control"}
	memoryV2 = memoryFiles{limit: "memory.max", events: "memory.events",
		// Without swap the limit is the limit; and half a step is of no use to anybody.
		more: map[string]string{"memory.swap.max": "0", "memory.oom.group": "1"}}
)

// NewMemoryLimit makes a cgroup of that many bytes for what carries the mark (see Mark):
// what is left in it is ended with the run. "" is for what may outlive its run. The error
// says why this user can make none here.
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
		_ = m.leaf.write("memory.memsw.limit_in_bytes", size) // memory and swap; only where swap is counted
	}
	for file, text := range kind.more {
		_ = m.leaf.write(file, text)
	}
	return m, nil
}

var errNoMemoryController = errors.New("this user can make no cgroup here whose memory is counted")

// memoryParent is where a cgroup with a memory limit can be made: in version 2 the
// nearest cgroup above this process that hands the controller down, in version 1 this
// process's own. Entering it takes the right to write to its cgroup.procs.
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

// mayEnter says whether this process may move processes within a cgroup.
func mayEnter(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// ownMemoryV1 is the folder of this process's cgroup in the version 1 hierarchy of
// the memory controller, "" without one.
func ownMemoryV1() string {
	return OwnCgroups()[1]
}

// JoinFile is the file by which a process enters.
func (m *MemoryLimit) JoinFile() string { return filepath.Join(m.leaf.Path, "cgroup.procs") }

// Exceeded says whether a process in it was ended for its memory.
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

// Remove takes it away and says whether it could: not while it holds processes.
func (m *MemoryLimit) Remove() bool {
	if removeTree(m.leaf.Path) != nil {
		return false
	}
	m.leaf.dir.Close()
	return true
}

// End takes it away when all should have ended: with kill, what is in it still is ended
// where the kernel can do that at once. One that holds processes all the same stays
// until a later run of this user finds it empty.
func (m *MemoryLimit) End(kill bool) {
	if kill {
		_ = m.leaf.Kill()
	}
	m.leaf.Remove()
}
