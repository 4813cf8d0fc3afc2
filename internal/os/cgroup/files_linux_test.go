package cgroup

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// write writes the files of a cgroup in a new folder, whose path it returns.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestHeldLeaf: a leaf whose maker seems to have ended, as one in another pid namespace does, stays while the maker has it
// open.
func TestHeldLeaf(t *testing.T) {
	parent := t.TempDir()
	l, err := makeLeaf(parent, LeafPrefix+"run.1-999999999.1.7-1")
	if err != nil {
		t.Fatal(err)
	}
	if SweepLeaves(parent); len(LeavesUnder(parent)) != 1 {
		t.Error("the leaf of a living process was removed")
	}
	l.dir.Close()
	if SweepLeaves(parent); len(LeavesUnder(parent)) != 0 {
		t.Error("an abandoned leaf was left")
	}
}

// What a leaf is called says which run made it, however the run is called.
func TestLeafName(t *testing.T) {
	names := map[string]string{}
	for _, mark := range []string{"run.1", "run.2", "my-run_2.12", "a/b.1", "a/c.1", "a b.1", "ä.1", strings.Repeat("x", 118) + ".1", strings.Repeat("x", 119) + ".1", strings.Repeat("y", 300) + ".1"} {
		name := LeafName(mark, 7)
		if len(name) > 255 || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			t.Errorf("the name %q is not safe", name)
		}
		got, tag, ok := ParseLeaf(name)
		if !ok || got != LeafMark(mark) || tag != procid.Domain(7).Tag() {
			t.Errorf("%s: mark %q, tag %q, %v", name, got, tag, ok)
		}
		_, epoch := procid.SplitMark(mark)
		if _, is := procid.SplitMark(got); is != epoch {
			t.Errorf("%s: the epoch is %s, want %s", name, is, epoch)
		}
		if other, found := names[got]; found {
			t.Errorf("%q and %q have the same leaves", other, mark)
		}
		names[got] = mark
		if short := len(mark) <= 120 && strings.Trim(mark, "abcdefghijklmnopqrstuvwxyz0123456789._-") == ""; (got == mark) != short {
			t.Errorf("the mark %q is written as %q", mark, got)
		}
	}
	for _, name := range []string{"flowrun-", "flowrun-x", "flowrun-x-1", "user.slice", "x-flowrun-a-b-1"} {
		if mark, tag, ok := ParseLeaf(name); ok {
			t.Errorf("%s is taken for a leaf with the mark %q and the tag %q", name, mark, tag)
		}
	}
}

// The cgroups of a process, as the kernel writes them with each arrangement of hierarchies.
func TestParseCgroups(t *testing.T) {
	unified := func(path string) string {
		if unifiedMount() == "" {
			return ""
		}
		return filepath.Join(unifiedMount(), path)
	}
	for text, want := range map[string][2]string{
		"":                                 {},
		"0::/user.slice/session-3.scope\n": {unified("user.slice/session-3.scope")},
		"0::/\n":                           {unified("")},
		"0::/a:b\n":                        {unified("a:b")},
		"12:memory:/user.slice\n11:cpu,cpuacct:/\n1:name=systemd:/user.slice\n0::/init.scope\n": {unified("init.scope"), "/sys/fs/cgroup/memory/user.slice"},
		"4:memory:/docker/f00\n":               {"", "/sys/fs/cgroup/memory/docker/f00"},
		"5:cpu,cpuacct:/x\n1:name=systemd:/\n": {},
		"no line of it\n0:\n":                  {},
	} {
		if got := parseCgroups(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What is written to which file for each limit, in both versions.
func TestSettings(t *testing.T) {
	for _, c := range []struct {
		name   string
		limits Limits
		v1, v2 string
	}{
		{"none", Limits{}, "", ""},
		{"memory", Limits{Memory: 64 << 20}, "memory.limit_in_bytes=67108864 memory.memsw.limit_in_bytes=67108864?", "memory.max=67108864 memory.swap.max=0? memory.oom.group=1?"},
		{"processes", Limits{Processes: 30}, "pids.max=30", "pids.max=30"},
		{"half a processor", Limits{CPU: 0.5}, "cpu.cfs_period_us=100000 cpu.cfs_quota_us=50000", "cpu.max=50000 100000"},
		{"the least that a definition may ask for", Limits{CPU: 0.01}, "cpu.cfs_period_us=100000 cpu.cfs_quota_us=1000", "cpu.max=1000 100000"},
		{"more than there are", Limits{CPU: 1e30}, "cpu.cfs_period_us=100000 cpu.cfs_quota_us=104857600000", "cpu.max=104857600000 100000"},
		{"count only", Limits{CountCPU: true}, "", ""},
	} {
		for v2, want := range map[bool]string{false: c.v1, true: c.v2} {
			settings := c.limits.settings(v2)
			var got []string
			for _, controller := range slices.Sorted(maps.Keys(settings)) {
				for _, s := range settings[controller] {
					word := s.file + "=" + s.text
					if s.optional {
						word += "?"
					}
					if !strings.HasPrefix(s.file, controller+".") {
						t.Errorf("%s: %s is not a file of the controller %s", c.name, s.file, controller)
					}
					got = append(got, word)
				}
			}
			if text := strings.Join(got, " "); text != want {
				t.Errorf("%s, version 2 %v: %s, want %s", c.name, v2, text, want)
			}
		}
	}
	if _, needed := (Limits{CountCPU: true}).settings(false)["cpuacct"]; !needed {
		t.Error("nothing counts the CPU time")
	}
}

// Settings that the kernel may not have can fail, and others cannot.
func TestApply(t *testing.T) {
	l := Leaf{Path: write(t, map[string]string{"memory.max": "max\n"})}
	absent := setting{file: "absent/file", text: "0"}
	if err := l.apply([]setting{absent}); err == nil {
		t.Error("a limit that cannot be set is not reported")
	}
	absent.optional = true
	if err := l.apply([]setting{absent, {file: "memory.max", text: "4096"}}); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(l.Path, "memory.max")); string(text) != "4096" || err != nil {
		t.Errorf("the limit is %q, %v", text, err)
	}
}

// What a Limit has counted, as the kernel writes it. The files are those of Linux 6.8, and of 4.19 with version 1.
func TestCounted(t *testing.T) {
	const events = "low 0\nhigh 0\nmax 41\noom 1\noom_kill %d\noom_group_kill 0\n"
	const stat = "usage_usec 3500000\nuser_usec 2000000\nsystem_usec 1500000\nnr_periods 0\n"
	type counted struct {
		OutOfMemory, Denied bool
		Peak                int64
		User, System        time.Duration
		Known               bool
	}
	for _, c := range []struct {
		name   string
		leaves []limitLeaf
		want   counted
	}{
		{"nothing", nil, counted{}},
		{"version 2", []limitLeaf{{Leaf{Path: write(t, map[string]string{"memory.events": fmt.Sprintf(events, 0), "memory.peak": "1048576\n", "pids.events": "max 0\n", "cpu.stat": stat})}, true}},
			counted{Peak: 1 << 20, User: 2 * time.Second, System: 1500 * time.Millisecond, Known: true}},
		{"version 2, exceeded", []limitLeaf{{Leaf{Path: write(t, map[string]string{"memory.events": fmt.Sprintf(events, 2), "pids.events": "max 5\nmax.imposed 0\n"})}, true}},
			counted{OutOfMemory: true, Denied: true}},
		{"version 1", []limitLeaf{
			{Leaf{Path: write(t, map[string]string{"memory.oom_control": "oom_kill_disable 0\nunder_oom 1\noom_kill 0\n", "memory.max_usage_in_bytes": "4096\n"})}, false},
			{Leaf{Path: write(t, map[string]string{"pids.events": "max 0\n"})}, false},
			{Leaf{Path: write(t, map[string]string{"cpu.stat": "nr_periods 9\n", "cpuacct.usage_user": "2000000000\n", "cpuacct.usage_sys": "1000000\n"})}, false},
		}, counted{Peak: 4096, User: 2 * time.Second, System: time.Millisecond, Known: true}},
		{"version 1, exceeded", []limitLeaf{
			{Leaf{Path: write(t, map[string]string{"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"})}, false},
			{Leaf{Path: write(t, map[string]string{"pids.events": "max 1\n"})}, false},
		}, counted{OutOfMemory: true, Denied: true}},
		{"memory in version 1, the rest in 2", []limitLeaf{
			{Leaf{Path: write(t, map[string]string{"memory.max_usage_in_bytes": "8192\n"})}, false},
			{Leaf{Path: write(t, map[string]string{"cpu.stat": stat, "pids.events": "max 2\n"})}, true},
		}, counted{Denied: true, Peak: 8192, User: 2 * time.Second, System: 1500 * time.Millisecond, Known: true}},
		{"a kernel without these files", []limitLeaf{{Leaf{Path: t.TempDir()}, true}}, counted{}},
	} {
		m := &Limit{leaves: c.leaves}
		got := counted{OutOfMemory: m.OutOfMemory(), Denied: m.ProcessesDenied(), Peak: m.PeakMemory()}
		if got.User, got.System, got.Known = m.CPUTime(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// Processes of cgroups below a leaf belong to it.
func TestPIDs(t *testing.T) {
	l := Leaf{Path: write(t, map[string]string{"cgroup.procs": "12\n7\n", "below/cgroup.procs": "300\n", "below/deep/cgroup.procs": "", "below/other": "5\n", "cgroup.events": "populated 1\nfrozen 0\n"})}
	if got := slices.Sorted(maps.Keys(l.PIDs())); !slices.Equal(got, []int{7, 12, 300}) {
		t.Errorf("%v", got)
	}
	if !l.Populated() {
		t.Error("it has processes")
	}
	l.Path = write(t, map[string]string{"cgroup.events": "populated 0\nfrozen 1\n"})
	if l.Populated() {
		t.Error("it has none")
	}
}

// Leaves of a process that has ended are removed once they are empty, and no others.
func TestSweepLeaves(t *testing.T) {
	parent := t.TempDir()
	self := procid.Self()
	dead := fmt.Sprintf("%d.%d.7", self.PID, self.Start+1) // no process has both
	for _, name := range []string{"flowrun-a.1-" + dead + "-1/below", "flowrun-b.1-" + dead + "-2", LeafName("c.1", 7), "flowrun-x-y-z", "user-1-2-3"} {
		if err := os.MkdirAll(filepath.Join(parent, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(parent, "flowrun-b.1-"+dead+"-2", "process"), nil, 0o600); err != nil { // the kernel keeps it as it keeps this folder
		t.Fatal(err)
	}
	SweepLeaves(parent)
	entries, err := os.ReadDir(parent)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.SplitAfterN(e.Name(), "-", 3)[1])
	}
	if want := []string{"b.1-", "c.1-", "x-", "1-"}; !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}
