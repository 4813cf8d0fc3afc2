package cgroup

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/procid"
)

// CgroupsOf are the folders of the cgroups that a process is in, in every hierarchy that
// leaves are made in.
func CgroupsOf(pid int, buf []byte) (dirs [2]string) {
	n, err := procid.ReadInto(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"), buf)
	if err != nil {
		return dirs
	}
	return parseCgroups(string(buf[:n]))
}

// Leaf is a cgroup that holds processes of one run and nothing else. Those of version 2
// that limit nothing are only a list that no process leaves by accident.
type Leaf struct {
	Path string
	dir  *os.File // nil: another process has made it
}

var leafCount atomic.Int64 // leaves made by this process

// A leaf is called flowrun-MARK-TAG-NUMBER, so that whoever finds it knows the run and
// the epoch (Mark) and whether the process that made it is gone (Tag).
const LeafPrefix = "flowrun-"

// LeafName is the name of a new leaf for what carries the mark. With "" it only bounds
// its processes: nobody ends them because they are in it.
func LeafName(mark string) string {
	return fmt.Sprintf("%s%s-%s-%d", LeafPrefix, LeafMark(mark), procid.Tag(), leafCount.Add(1))
}

// LeafMark is a mark as a part of a leaf's name.
func LeafMark(mark string) string {
	const most = 120 // bytes; a name has 255
	safe := strings.IndexFunc(mark, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
	if safe && len(mark) <= most {
		return mark
	}
	run, epoch := procid.SplitMark(mark)
	return fmt.Sprintf("%x.%s", sha256.Sum256([]byte(run)), epoch)
}

// ParseLeaf takes the name of a leaf apart.
func ParseLeaf(name string) (mark, tag string, ok bool) {
	rest, ok := strings.CutPrefix(name, LeafPrefix)
	if !ok {
		return "", "", false
	}
	rest, _, ok = cutLast(rest, "-") // the number
	if !ok {
		return "", "", false
	}
	return cutLast(rest, "-")
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return "", "", false
	}
	return text[:i], text[i+len(sep):], true
}

// NewLeaf makes a leaf under this process's own cgroup; nil where that cannot be
// done (no v2 hierarchy, not this user's to write).
func NewLeaf(mark string) *Leaf {
	parent := OwnCgroup()
	if parent == "" {
		return nil
	}
	SweepLeaves(parent)
	l, err := makeLeaf(parent, mark)
	if err != nil {
		return nil
	}
	l.limitProcesses()
	return l
}

// makeLeaf makes a cgroup whose name says whose it is.
func makeLeaf(parent, mark string) (*Leaf, error) {
	path := filepath.Join(parent, LeafName(mark))
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	return &Leaf{Path: path, dir: dir}, nil
}

// SweepLeaves removes leaves whose makers died before they could, of whatever place. Only
// empty ones can be removed, so at worst a run of another pid namespace goes on without
// its leaf; ending what is in the others is for Sweep and Recover.
func SweepLeaves(parent string) {
	for _, path := range LeavesUnder(parent) {
		if _, tag, ok := ParseLeaf(filepath.Base(path)); ok {
			if _, gone := procid.ReadTag(tag); gone {
				removeTree(path)
			}
		}
	}
}

func LeavesUnder(parent string) []string {
	found, _ := filepath.Glob(filepath.Join(parent, LeafPrefix+"*-*-*"))
	return found
}

// parseCgroups are the folders that a /proc/PID/cgroup names, of version 2 and of the
// memory controller of version 1; "" for none.
func parseCgroups(text string) (dirs [2]string) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		switch {
		case len(parts) != 3:
		case parts[0] == "0" && parts[1] == "":
			if mount := unifiedMount(); mount != "" {
				dirs[0] = filepath.Join(mount, parts[2])
			}
		case parts[1] == "memory":
			dirs[1] = filepath.Join("/sys/fs/cgroup/memory", parts[2])
		}
	}
	return dirs
}

// unifiedMount is where the v2 hierarchy is, which stands alone or beside v1 hierarchies;
// "" without one.
var unifiedMount = sync.OnceValue(func() string {
	for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(mount, "cgroup.procs")); err == nil {
			return mount
		}
	}
	return ""
})

// OwnCgroups are the cgroups of this process.
func OwnCgroups() [2]string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return [2]string{}
	}
	return parseCgroups(string(text))
}

// OwnCgroup is the folder of this process's v2 cgroup; "" without one.
func OwnCgroup() string { return OwnCgroups()[0] }

func (l *Leaf) FD() int { return int(l.dir.Fd()) }

func (l *Leaf) write(file, text string) error {
	return os.WriteFile(filepath.Join(l.Path, file), []byte(text), 0)
}

// Populated says whether anything lives in the leaf or below it.
func (l *Leaf) Populated() bool { return l.event("populated 1") }

func (l *Leaf) event(line string) bool {
	events, err := os.ReadFile(filepath.Join(l.Path, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte(line))
}

// PIDs are the processes in the leaf and in what they made below it.
func (l *Leaf) PIDs() map[int]bool {
	set := map[int]bool{}
	filepath.WalkDir(l.Path, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // gone meanwhile
		}
		text, _ := os.ReadFile(filepath.Join(path, "cgroup.procs"))
		for line := range strings.Lines(string(text)) {
			if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
				set[pid] = true
			}
		}
		return nil
	})
	return set
}

// limitProcesses keeps a step from using up all processes that there can be here, where
// the controller is handed down. It leaves some for the one who has to end them.
func (l *Leaf) limitProcesses() {
	if _, err := os.Stat(filepath.Join(l.Path, "pids.max")); err != nil {
		return
	}
	limit := uint64(math.MaxUint64)
	files := []string{"/proc/sys/kernel/pid_max", "/proc/sys/kernel/threads-max"}
	for dir := filepath.Dir(l.Path); strings.HasPrefix(dir, unifiedMount()); dir = filepath.Dir(dir) {
		files = append(files, filepath.Join(dir, "pids.max"))
	}
	for _, file := range files {
		text, _ := os.ReadFile(file) // what is no number ("max") bounds nothing
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			limit = min(limit, n)
		}
	}
	_ = l.write("pids.max", strconv.FormatUint(procid.MaxStepProcesses(min(limit, 1<<30)), 10))
}

// Kill ends everything in the leaf at once; no fork can outrun it. It fails where the
// kernel cannot do that: before 5.14, and in hierarchies of version 1.
func (l *Leaf) Kill() error { return l.write("cgroup.kill", "1") }

// Freeze keeps everything in the leaf from forking while somebody looks. It waits
// a little for the kernel to get hold of every process. A frozen process still
// dies of KILL.
func (l *Leaf) Freeze() {
	l.write("cgroup.freeze", "1")
	for range 20 {
		if l.event("frozen 1") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *Leaf) Thaw() { l.write("cgroup.freeze", "0") }

// Remove takes the leaf away, and what processes made below it. The kernel may
// call a leaf busy for a moment after its last process.
func (l *Leaf) Remove() {
	if l.dir != nil {
		l.dir.Close()
	}
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 2 {
		if removeTree(l.Path) == nil {
			return
		}
		time.Sleep(wait)
	}
}

// removeTree removes a cgroup bottom up. Its files are the kernel's and go with it.
func removeTree(path string) error {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			removeTree(filepath.Join(path, e.Name()))
		}
	}
	return os.Remove(path)
}
