package cgroup

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// CgroupsOf returns the directories of the cgroups that a process is in, in the hierarchies in
// which leaves are made (see OwnCgroups). buf is used for reading.
func CgroupsOf(pid int, buf []byte) (dirs [2]string) {
	n, err := procid.ReadInto(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"), buf)
	if err != nil {
		return dirs
	}
	return parseCgroups(string(buf[:n]))
}

// Leaf is a cgroup that contains processes of one run and nothing else. A leaf of version 2 need
// not limit anything: it serves as a list that no process leaves by accident.
type Leaf struct {
	Path string
	dir  *os.File // nil if another process made it
}

var leafCount atomic.Int64 // number of leaves that this process has made

// LeafPrefix starts the name of a leaf: flowrun-MARK-TAG-NUMBER. The mark (procid.Mark) names the
// run and the epoch, and the tag (procid.Domain.Tag) shows whether the process that made the leaf has
// ended.
const LeafPrefix = "flowrun-"

// LeafName returns the name of a new leaf for processes with this mark. With "" nothing ends
// processes because they are in the leaf; it only limits them.
func LeafName(mark string, d procid.Domain) string {
	return fmt.Sprintf("%s%s-%s-%d", LeafPrefix, LeafMark(mark), d.Tag(), leafCount.Add(1))
}

// LeafMark returns a mark as it appears in the name of a leaf. If the mark is long or has
// characters that a file name should not contain, the run id is replaced by its SHA-256.
func LeafMark(mark string) string {
	const limit = 120 // bytes; a name can have 255
	safe := strings.IndexFunc(mark, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
	if safe && len(mark) <= limit {
		return mark
	}
	run, epoch := procid.SplitMark(mark)
	return fmt.Sprintf("%x.%s", sha256.Sum256([]byte(run)), epoch)
}

// ParseLeaf returns the mark and the tag in the name of a leaf. ok is false for other names.
func ParseLeaf(name string) (mark, tag string, ok bool) {
	rest, ok := strings.CutPrefix(name, LeafPrefix)
	if !ok {
		return "", "", false
	}
	rest, _, ok = cutLast(rest, "-") // drop the number
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

// NewLeaf makes a leaf below the cgroup of this process. It returns nil if that is not possible:
// there is no v2 hierarchy, or this user may not write to it.
func NewLeaf(mark string, d procid.Domain) *Leaf {
	parent := OwnCgroup()
	if parent == "" {
		return nil
	}
	SweepLeaves(parent)
	l, err := makeLeaf(parent, LeafName(mark, d))
	if err != nil {
		return nil
	}
	l.limitProcesses()
	return l
}

// makeLeaf makes a cgroup with this name below parent.
func makeLeaf(parent, name string) (*Leaf, error) {
	path := filepath.Join(parent, name)
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	// Until dir is closed, see isHeld. Where the kernel refuses it, the tag alone says whether the maker lives.
	_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	return &Leaf{Path: path, dir: dir}, nil
}

// SweepLeaves removes the empty leaves below parent whose makers have ended, whatever their place
// (procid.Domain). proc.Sweep and proc.Recover end what is in the others.
func SweepLeaves(parent string) {
	for _, path := range LeavesUnder(parent) {
		if _, tag, ok := ParseLeaf(filepath.Base(path)); ok {
			if _, gone := procid.ReadTag(tag); gone && !isHeld(path) {
				removeTree(path)
			}
		}
	}
}

// isHeld reports whether a process has the lock on a leaf that its maker took. A maker in another pid namespace seems to
// have ended: its number means nothing here, or another process. But a lock is one of the kernel.
func isHeld(path string) bool {
	dir, err := os.Open(path)
	if err != nil {
		return false
	}
	defer dir.Close()
	return errors.Is(syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// LeavesUnder returns the paths of all leaves directly below parent.
func LeavesUnder(parent string) []string {
	found, _ := filepath.Glob(filepath.Join(parent, LeafPrefix+"*-*-*"))
	return found
}

// parseCgroups parses /proc/PID/cgroup. It returns the directories of the version 2 cgroup and of
// the version 1 cgroup of the memory controller, "" for one that does not exist.
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

// unifiedMount is where the v2 hierarchy is mounted, alone or next to v1 hierarchies, or "".
var unifiedMount = sync.OnceValue(func() string { return firstUnified("/sys/fs/cgroup", "/sys/fs/cgroup/unified") })

// firstUnified returns the first of the folders in which a v2 hierarchy is mounted. What it contains
// does not matter: root can make files in the folder of v1 hierarchies.
func firstUnified(folders ...string) string {
	const magic = 0x63677270 // CGROUP2_SUPER_MAGIC
	for _, dir := range folders {
		var fs syscall.Statfs_t
		if syscall.Statfs(dir, &fs) == nil && fs.Type == magic {
			return dir
		}
	}
	return ""
}

// OwnCgroups returns the directories of the cgroups of this process: version 2, and the memory
// controller of version 1.
func OwnCgroups() [2]string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return [2]string{}
	}
	return parseCgroups(string(text))
}

// OwnCgroup returns the directory of this process's v2 cgroup, or "".
func OwnCgroup() string { return OwnCgroups()[0] }

// FD returns a descriptor of the cgroup, to start processes in it. Only for a leaf from NewLeaf.
func (l *Leaf) FD() int { return int(l.dir.Fd()) }

func (l *Leaf) write(file, text string) error {
	return os.WriteFile(filepath.Join(l.Path, file), []byte(text), 0)
}

// Populated reports whether the leaf, or a cgroup below it, contains a living process.
func (l *Leaf) Populated() bool { return l.event("populated 1") }

func (l *Leaf) event(line string) bool {
	events, err := os.ReadFile(filepath.Join(l.Path, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte(line))
}

// PIDs returns the processes in the leaf and in the cgroups below it.
func (l *Leaf) PIDs() map[int]bool {
	set := map[int]bool{}
	filepath.WalkDir(l.Path, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil // the cgroup has been removed
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

// limitProcesses sets pids.max, if the leaf has that controller, so that a step cannot use up all
// processes of the machine or of the cgroup above. Some remain for flowrun, which must be able to
// end the step.
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
		text, _ := os.ReadFile(file) // "max" means unlimited
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			limit = min(limit, n)
		}
	}
	_ = l.write("pids.max", strconv.FormatUint(procid.MaxStepProcesses(min(limit, 1<<30)), 10))
}

// Kill kills all processes in the leaf; no fork can escape it. It fails before Linux 5.14 and in
// hierarchies of version 1.
func (l *Leaf) Kill() error { return l.write("cgroup.kill", "1") }

// Freeze suspends all processes in the leaf, so that none forks while the process table is read. It
// waits up to 20 ms until the kernel has suspended them. KILL still ends a frozen process.
func (l *Leaf) Freeze() {
	l.write("cgroup.freeze", "1")
	for range 20 {
		if l.event("frozen 1") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Thaw lets frozen processes continue.
func (l *Leaf) Thaw() { l.write("cgroup.freeze", "0") }

// Remove removes the leaf and the cgroups below it. It retries for about 0.1 s, because the kernel
// may report a leaf as busy for a moment after its last process has ended.
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

// removeTree removes a cgroup and those below it, deepest first. The files in a cgroup belong to
// the kernel and disappear with it.
func removeTree(path string) error {
	entries, _ := os.ReadDir(path)
	for _, e := range entries {
		if e.IsDir() {
			removeTree(filepath.Join(path, e.Name()))
		}
	}
	return os.Remove(path)
}
