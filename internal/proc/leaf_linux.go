package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// leaf is a cgroup (v2) that holds the processes of one run and nothing else. It
// limits nothing: it is only a list that no process leaves by accident.
type leaf struct {
	path string
	dir  *os.File
}

var leaves atomic.Int64 // leaves made by this process

const leafPrefix = "flowrun-" // then the maker's pid, "-", a number

// newLeaf makes a leaf under this process's own cgroup; nil where that cannot be
// done (no v2 hierarchy, not this user's to write).
func newLeaf() *leaf {
	parent := ownCgroup()
	if parent == "" {
		return nil
	}
	sweepLeaves(parent)
	l, err := makeLeaf(parent)
	if err != nil {
		return nil
	}
	return l
}

// makeLeaf makes a cgroup whose name says whose it is.
func makeLeaf(parent string) (*leaf, error) {
	path := filepath.Join(parent, fmt.Sprintf("%s%d-%d", leafPrefix, os.Getpid(), leaves.Add(1)))
	if err := os.Mkdir(path, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.Open(path)
	if err != nil {
		os.Remove(path)
		return nil, err
	}
	return &leaf{path: path, dir: dir}, nil
}

// sweepLeaves removes leaves whose maker died before it could. Only empty ones can
// be removed, so at worst a run of another pid namespace goes on without its leaf.
func sweepLeaves(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, leafPrefix+"*-*"))
	for _, path := range found {
		maker, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(path), leafPrefix), "-")
		pid, err := strconv.Atoi(maker)
		if err == nil && pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH {
			os.Remove(path)
		}
	}
}

// ownCgroup is the folder of this process's v2 cgroup, which stands alone or
// beside v1 hierarchies; "" without one.
func ownCgroup() string {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		for _, mount := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
			if _, err := os.Stat(filepath.Join(mount, "cgroup.procs")); err == nil {
				return filepath.Join(mount, own)
			}
		}
	}
	return ""
}

func (l *leaf) fd() int { return int(l.dir.Fd()) }

func (l *leaf) write(file, text string) error {
	return os.WriteFile(filepath.Join(l.path, file), []byte(text), 0)
}

// populated says whether anything lives in the leaf or below it.
func (l *leaf) populated() bool { return l.event("populated 1") }

func (l *leaf) event(line string) bool {
	events, err := os.ReadFile(filepath.Join(l.path, "cgroup.events"))
	return err == nil && bytes.Contains(events, []byte(line))
}

// pids are the processes in the leaf and in what they made below it.
func (l *leaf) pids() map[int]bool {
	set := map[int]bool{}
	filepath.WalkDir(l.path, func(path string, d os.DirEntry, err error) error {
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

// kill ends everything in the leaf at once; no fork can outrun it.
func (l *leaf) kill() error { return l.write("cgroup.kill", "1") }

// freeze keeps everything in the leaf from forking while somebody looks. It waits
// a little for the kernel to get hold of every process. A frozen process still
// dies of KILL.
func (l *leaf) freeze() {
	l.write("cgroup.freeze", "1")
	for range 20 {
		if l.event("frozen 1") {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

func (l *leaf) thaw() { l.write("cgroup.freeze", "0") }

// remove takes the leaf away, and what processes made below it. The kernel may
// call a leaf busy for a moment after its last process.
func (l *leaf) remove() {
	l.dir.Close()
	for wait := time.Millisecond; wait < 100*time.Millisecond; wait *= 2 {
		if removeTree(l.path) == nil {
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
