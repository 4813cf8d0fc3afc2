package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// Limit limits what all processes in it use together: one cgroup of version 2, or one for each
// hierarchy of version 1 that is needed. Safe for concurrent use.
type Limit struct {
	leaves []limitLeaf
}

type limitLeaf struct {
	Leaf
	v2 bool
}

// NewLimit makes a Limit for processes with this mark (see procid.Mark): what is left in it is
// ended with the run. Use "" for processes that may outlive their run. It fails if this user cannot
// make such cgroups here.
func NewLimit(mark string, d procid.Domain, l Limits) (*Limit, error) {
	parents, err := parentsFor(l)
	if err != nil {
		return nil, err
	}
	limit := &Limit{}
	for _, p := range parents {
		SweepLeaves(p.dir)
		leaf, err := makeLeaf(p.dir, LeafName(mark, d))
		if err == nil {
			limit.leaves = append(limit.leaves, limitLeaf{*leaf, p.v2})
			err = leaf.apply(p.settings)
		}
		if err != nil {
			limit.End(false)
			return nil, err
		}
	}
	return limit, nil
}

// CanLimit returns nil if NewLimit can make such a Limit here, and otherwise why not.
func CanLimit(l Limits) error {
	_, err := parentsFor(l)
	return err
}

// setting is what to write to a file of a cgroup.
type setting struct {
	file, text string
	optional   bool // some kernels do not have the file
}

func (l *Leaf) apply(list []setting) error {
	for _, s := range list {
		if err := l.write(s.file, s.text); err != nil && !s.optional {
			return err
		}
	}
	return nil
}

// cpuPeriod is the time in which a share of the processors is granted, in microseconds. It is the
// default of the kernel.
const cpuPeriod = 100_000

// maxCPU is more processors than any machine has. The kernel rejects shares that are far greater.
const maxCPU = 1 << 20

// settings returns what to write for each controller that the limits need.
func (l Limits) settings(v2 bool) map[string][]setting {
	needed := map[string][]setting{}
	if l.Memory > 0 {
		size := strconv.FormatInt(l.Memory, 10)
		// The second one of version 1 is for memory plus swap, if the kernel counts swap.
		needed["memory"] = []setting{{file: "memory.limit_in_bytes", text: size}, {"memory.memsw.limit_in_bytes", size, true}}
		if v2 {
			// Without swap the limit means what it says. If one process of a step is killed for
			// memory, the rest is useless, so all are killed.
			needed["memory"] = []setting{{file: "memory.max", text: size}, {"memory.swap.max", "0", true}, {"memory.oom.group", "1", true}}
		}
	}
	if l.Processes > 0 {
		needed["pids"] = []setting{{file: "pids.max", text: strconv.Itoa(l.Processes)}}
	}
	if l.CPU > 0 {
		quota := strconv.FormatInt(int64(min(l.CPU, maxCPU)*cpuPeriod), 10)
		needed["cpu"] = []setting{{file: "cpu.cfs_period_us", text: strconv.Itoa(cpuPeriod)}, {file: "cpu.cfs_quota_us", text: quota}}
		if v2 {
			needed["cpu"] = []setting{{file: "cpu.max", text: quota + " " + strconv.Itoa(cpuPeriod)}}
		}
	}
	if l.CountCPU {
		needed["cpuacct"] = nil // every cgroup of version 2 counts it
	}
	return needed
}

// parent is a cgroup in which one with limits is made.
type parent struct {
	dir      string
	v2       bool
	settings []setting
}

// parentsFor returns where to make cgroups for the limits. The kernel has a controller either in a
// hierarchy of version 1 or in that of version 2.
func parentsFor(l Limits) (list []parent, err error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	needed := l.settings(false)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] == "" {
			continue
		}
		var p parent
		for _, name := range strings.Split(parts[1], ",") {
			if settings, ok := needed[name]; ok {
				p.dir = filepath.Join("/sys/fs/cgroup", name, parts[2])
				p.settings = append(p.settings, settings...)
				delete(needed, name)
			}
		}
		if p.dir != "" && !mayEnter(p.dir) {
			return nil, errNoController(parts[1])
		}
		if p.dir != "" {
			list = append(list, p)
		}
	}
	if len(needed) == 0 {
		return list, nil
	}
	p := parent{v2: true}
	var names []string
	for name, settings := range l.settings(true) {
		if _, ok := needed[name]; ok {
			p.settings = append(p.settings, settings...)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	if p.dir = parentV2(names); p.dir == "" {
		return nil, errNoController(strings.Join(names, " and "))
	}
	return append(list, p), nil
}

func errNoController(name string) error {
	return fmt.Errorf("this user cannot create a cgroup with the %s controller here", name)
}

// parentV2 returns the nearest cgroup around this process that delegates the controllers, or "".
// Processes can enter a cgroup in it only if this user may write to its cgroup.procs.
func parentV2(controllers []string) string {
	for dir := OwnCgroup(); unifiedMount() != "" && strings.HasPrefix(dir, unifiedMount()); dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		delegated := append(strings.Fields(string(text)), "cpuacct")
		missing := slices.ContainsFunc(controllers, func(c string) bool { return !slices.Contains(delegated, c) })
		if err == nil && !missing && mayEnter(dir) {
			return dir
		}
	}
	return ""
}

// mayEnter reports whether this process may move processes within a cgroup.
func mayEnter(dir string) bool {
	f, err := os.OpenFile(filepath.Join(dir, "cgroup.procs"), os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// JoinFiles returns the files to which a process writes to enter the cgroups.
func (m *Limit) JoinFiles() (files []string) {
	for _, l := range m.leaves {
		files = append(files, filepath.Join(l.Path, "cgroup.procs"))
	}
	return files
}

// OutOfMemory reports whether a process was killed because of the limit of memory.
func (m *Limit) OutOfMemory() bool {
	n, _ := m.number("memory.oom_control", "memory.events", "oom_kill")
	return n > 0
}

// ProcessesDenied reports whether a process could not be started because of the limit of processes.
func (m *Limit) ProcessesDenied() bool {
	n, _ := m.number("pids.events", "pids.events", "max")
	return n > 0
}

// PeakMemory returns the most memory that all processes used together, 0 if it is not known. Parts
// of files that the kernel keeps in memory for them count.
func (m *Limit) PeakMemory() int64 {
	n, _ := m.number("memory.max_usage_in_bytes", "memory.peak", "")
	return n
}

// CPUTime returns the CPU time of all processes that are or were in the cgroups. ok is false if it
// is not counted.
func (m *Limit) CPUTime() (user, system time.Duration, ok bool) {
	if u, ok := m.number("", "cpu.stat", "user_usec"); ok {
		s, _ := m.number("", "cpu.stat", "system_usec")
		return time.Duration(u) * time.Microsecond, time.Duration(s) * time.Microsecond, true
	}
	u, ok := m.number("cpuacct.usage_user", "", "")
	s, _ := m.number("cpuacct.usage_sys", "", "")
	return time.Duration(u), time.Duration(s), ok
}

// number reads a number from the file of one version or the other: the whole text, or that of the
// line which begins with key.
func (m *Limit) number(v1, v2, key string) (n int64, ok bool) {
	for _, l := range m.leaves {
		file := v1
		if l.v2 {
			file = v2
		}
		text, err := os.ReadFile(filepath.Join(l.Path, file))
		if file == "" || err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if key != "" && len(words) == 2 && words[0] == key {
				words = words[1:]
			}
			if len(words) == 1 {
				if n, err = strconv.ParseInt(words[0], 10, 64); err == nil {
					return n, true
				}
			}
		}
	}
	return 0, false
}

// Remove removes the cgroups and reports whether that succeeded. It fails while processes are in
// them.
func (m *Limit) Remove() bool {
	m.leaves = slices.DeleteFunc(m.leaves, func(l limitLeaf) bool {
		if removeTree(l.Path) != nil {
			return false
		}
		l.dir.Close()
		return true
	})
	return len(m.leaves) == 0
}

// End removes the cgroups after their processes should have ended. With kill it first kills what is
// left, if the kernel can kill a cgroup as a whole. A cgroup that still contains processes stays
// until a later run of this user finds it empty.
func (m *Limit) End(kill bool) {
	for _, l := range m.leaves {
		if kill {
			_ = l.Kill()
		}
		l.Leaf.Remove()
	}
}
